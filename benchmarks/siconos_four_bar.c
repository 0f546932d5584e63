// The crank-rocker of rigid.py for SICONOS: masses, forces and the gap of J2 in the absolute angles of crank, coupler
// and rocker, as callbacks (M v' + FGyr + FInt = H^T lambda; matrices by columns).  The tree is cut at J2, where the
// crank carries the bearing: ground-crank and ground-rocker-coupler.
#include <math.h>

static const double l1 = 1, l2 = 4, l3 = 2.5, l4 = 3, m1 = 1, m2 = 1, m3 = 1;  // crank, coupler, rocker, ground
static const double I1 = 0.0833, I2 = 1.33, I3 = 0.521, gravity = 9.81, constant = 6;
static const double clearance = 3e-3, journal = 0.06;
static const double k1 = 2000, k2 = 200, amplitude = 6, frequency = 0.75 * 3.14159265358979323846;  // of the feedback
int feedback = 0;  // 1: feedback linearisation in place of the constant torque

static double coupling(void) { return -0.5 * m2 * l2 * l3; }

void mass(unsigned n, double* q, double* M, unsigned nz, double* z) {
    (void)n, (void)nz, (void)z;
    for (int i = 0; i < 9; i++) M[i] = 0;
    M[0] = I1 + 0.25 * m1 * l1 * l1;
    M[4] = I2 + 0.25 * m2 * l2 * l2;
    M[8] = I3 + 0.25 * m3 * l3 * l3 + m2 * l3 * l3;
    M[5] = M[7] = coupling() * cos(q[1] - q[2]);
}

void inertial(unsigned n, double* q, double* v, double* f, unsigned nz, double* z) {
    (void)n, (void)nz, (void)z;
    const double B = coupling() * sin(q[1] - q[2]);
    f[0] = 0, f[1] = B * v[2] * v[2], f[2] = -B * v[1] * v[1];
}

// The torque under which the ideal mechanism of this crank angle has the acceleration that the errors ask for: half the
// derivative of its inertia J(q) for the forces of inertia, and what gravity needs.  The coupler and the rocker turn by
// a and b per turn of the crank, of which da and db are the derivatives.
static double linearising(double t, double q, double v) {
    const double x = l1 * cos(q) - l4, y = l1 * sin(q), square = x * x + y * y;
    const double near = 0.5 * (square + l3 * l3 - l2 * l2) / square, aside = sqrt(l3 * l3 / square - near * near);
    const double q3 = atan2(near * y - aside * x, near * x + aside * y);
    const double q2 = atan2(l3 * sin(q3) - y, l3 * cos(q3) - x);
    const double between = sin(q3 - q2), tangent = cos(q3 - q2) / between;
    const double a = l1 * sin(q - q3) / (l2 * between), b = l1 * sin(q - q2) / (l3 * between);
    const double da = l1 * cos(q - q3) * (1 - b) / (l2 * between) - a * tangent * (b - a);
    const double db = l1 * cos(q - q2) * (1 - a) / (l3 * between) - b * tangent * (b - a);
    const double M1 = I1 + (0.25 * m1 + m2) * l1 * l1, M2 = I2 + 0.25 * m2 * l2 * l2, M3 = I3 + 0.25 * m3 * l3 * l3;
    const double both = m2 * l1 * l2 * cos(q - q2), dboth = -m2 * l1 * l2 * sin(q - q2) * (1 - a);
    const double J = M1 + M2 * a * a + M3 * b * b + both * a;
    const double dJ = 2 * (M2 * a * da + M3 * b * db) + dboth * a + both * da;
    const double lift = (0.5 * m1 + m2) * l1 * cos(q) + 0.5 * m2 * l2 * cos(q2) * a + 0.5 * m3 * l3 * cos(q3) * b;
    const double s = amplitude * sin(frequency * t), c = amplitude * frequency * cos(frequency * t);
    const double wanted = -frequency * frequency * s + k2 * (c - v) + k1 * (s - q);
    return J * wanted + 0.5 * dJ * v * v + gravity * lift;
}

void forces(double t, unsigned n, double* q, double* v, double* f, unsigned nz, double* z) {
    (void)n, (void)nz, (void)z;
    const double torque = feedback ? linearising(t, q[0], v[0]) : constant;
    f[0] = 0.5 * m1 * gravity * l1 * cos(q[0]) - torque;
    f[1] = -0.5 * m2 * gravity * l2 * cos(q[1]);
    f[2] = (0.5 * m3 + m2) * gravity * l3 * cos(q[2]);
}

// From the bearing's centre to the journal's.
static void apart(const double* q, double* x, double* y) {
    *x = l4 + l3 * cos(q[2]) - l2 * cos(q[1]) - l1 * cos(q[0]);
    *y = l3 * sin(q[2]) - l2 * sin(q[1]) - l1 * sin(q[0]);
}

void gap(unsigned n, double* q, unsigned rows, double* y, unsigned nz, double* z) {
    (void)n, (void)nz, (void)z;
    double dx, dy;
    apart(q, &dx, &dy);
    y[0] = clearance - sqrt(dx * dx + dy * dy);
    for (unsigned i = 1; i < rows; i++) y[i] = 0;  // the scheme does not use how far it has slipped
}

void gap_by_q(unsigned n, double* q, unsigned rows, double* H, unsigned nz, double* z) {
    (void)n, (void)nz, (void)z;
    double dx, dy;
    apart(q, &dx, &dy);
    const double distance = sqrt(dx * dx + dy * dy);
    const double nx = distance > 1e-14 ? dx / distance : 1, ny = distance > 1e-14 ? dy / distance : 0;
    const double arm[3] = {-l1, -l2, l3}, rolling[3] = {-(journal + clearance), journal, 0};
    for (int j = 0; j < 3; j++) {
        const double cx = -arm[j] * sin(q[j]), cy = arm[j] * cos(q[j]);
        H[rows * j] = -(nx * cx + ny * cy);
        if (rows > 1) H[rows * j + 1] = nx * cy - ny * cx + rolling[j];
    }
}
