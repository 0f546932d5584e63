"""How a joint with play behaves; it lives in `jointplay.elements.contacts`."""

from ..elements.contacts import Compliant as Compliant
from ..elements.contacts import Contact as Contact
from ..elements.contacts import Following as Following
from ..elements.contacts import Rigid as Rigid
