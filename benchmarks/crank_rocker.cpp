// The step of crank_rocker.py written by hand for this one mechanism: what a patient programmer would reach.
// Every number is a compile-time constant, the 3x3 mass matrix is inverted on paper (the crank stands alone), the
// reference sin(w t), cos(w t) is a recurrence refreshed with the rotations.
// `crank_rocker LAW REPETITIONS` prints one JSON line: ns per step (thread CPU time, least of the repetitions of 1e6
// steps) and the largest tracking error over [1, 10] s in degrees, to show that it is the same step.
// Laws of the motor: pd is that of crank_rocker.py; feedback linearises the ideal mechanism and is the limit beside
// which rigid.py judges a step.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

constexpr double h = 1e-5, gravity = 9.81;
constexpr double l1 = 1, l2 = 4, l3 = 2.5, l4 = 3;                        // crank, coupler, rocker, ground
constexpr double m1 = 1, m2 = 1, m3 = 1, I1 = 0.0833, I2 = 1.33, I3 = 0.521;
constexpr double clearance = 3e-3, journal = 0.06, bearing = journal + clearance, mu = 0.1, restitution = 0;
constexpr double kp = 2000, kd = 200, amplitude = 6, w = 0.75 * M_PI;
constexpr long steps = 1000000, settled = 100000, refresh = 1024;

constexpr double inverse1 = 1 / (I1 + 0.25 * m1 * l1 * l1);               // crank
constexpr double M22 = I2 + 0.25 * m2 * l2 * l2;                          // coupler
constexpr double M33 = I3 + 0.25 * m3 * l3 * l3 + m2 * l3 * l3;           // rocker
constexpr double coupling = -0.5 * m2 * l2 * l3;
constexpr double weight1 = 0.5 * m1 * l1 * gravity, weight2 = -0.5 * m2 * l2 * gravity;
constexpr double weight3 = (0.5 * m3 + m2) * l3 * gravity;

constexpr double J1 = I1 + (0.25 * m1 + m2) * l1 * l1, J3 = I3 + 0.25 * m3 * l3 * l3;  // of the ideal mechanism
constexpr double shared = m2 * l1 * l2;

struct Rotation { double c, s; };
struct State { Rotation crank; double rate, error, rate_error, wanted; };  // wanted: acceleration

inline Rotation turned(Rotation z, double a) {
    const double a2 = a * a, sine = a * (1 - a2 * (1. / 6 - a2 * (1. / 120)));
    const double versine = a2 * (-0.5 + a2 * (1. / 24 - a2 * (1. / 720)));
    return {z.c + (z.c * versine - z.s * sine), z.s + (z.s * versine + z.c * sine)};
}

inline Rotation corrected(Rotation z, double a) {
    const double versine = -0.5 * a * a;
    return {z.c + (z.c * versine - z.s * a), z.s + (z.s * versine + z.c * a)};
}

inline Rotation of(double angle) { return {std::cos(angle), std::sin(angle)}; }

double seconds() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

// The rotation of the rocker, and of the coupler, that close the ideal mechanism for a rotation of its crank.
inline Rotation rocker_of(Rotation z, Rotation* coupler) {
    const double ex = l1 * z.c - l4, ey = l1 * z.s, inverse = 1 / (ex * ex + ey * ey);
    const double along = 0.5 + 0.5 * (l3 * l3 - l2 * l2) * inverse;
    const double across = -std::sqrt(l3 * l3 * inverse - along * along);
    const double x = along * ex - across * ey, y = along * ey + across * ex;
    *coupler = {(x - ex) * (1 / l2), (y - ey) * (1 / l2)};
    return {x * (1 / l3), y * (1 / l3)};
}

struct Pd {
    double operator()(const State& s) const { return kd * s.rate_error + kp * s.error; }
};

// The torque under which the ideal mechanism, with one degree of freedom, has the acceleration asked for.
struct Feedback {
    double operator()(const State& s) const {
        Rotation z1 = s.crank, z2, z3 = rocker_of(z1, &z2);
        const double s32 = z3.s * z2.c - z3.c * z2.s, c32 = z3.c * z2.c + z3.s * z2.s, inverse = 1 / s32;
        const double s31 = z3.s * z1.c - z3.c * z1.s, c31 = z3.c * z1.c + z3.s * z1.s;
        const double s21 = z2.s * z1.c - z2.c * z1.s, c21 = z2.c * z1.c + z2.s * z1.s;
        const double p = l1 / l2 * inverse, r = l1 / l3 * inverse, cot = c32 * inverse;
        const double k2 = -p * s31, k3 = -r * s21;  // rates of coupler and rocker per rate of the crank
        const double d2 = -p * c31 * (k3 - 1) - k2 * cot * (k3 - k2), d3 = -r * c21 * (k2 - 1) - k3 * cot * (k3 - k2);
        const double inertia = J1 + M22 * k2 * k2 + J3 * k3 * k3 + shared * c21 * k2;
        const double slope = M22 * k2 * d2 + J3 * k3 * d3 + 0.5 * shared * (c21 * d2 - s21 * (k2 - 1) * k2);
        const double lifted = (0.5 * m1 + m2) * l1 * z1.c + 0.5 * m2 * l2 * z2.c * k2 + 0.5 * m3 * l3 * z3.c * k3;
        return inertia * (s.wanted + kd * s.rate_error + kp * s.error) + slope * s.rate * s.rate + gravity * lifted;
    }
};

template <typename Law>
double simulate() {
    const Law law;
    const double start = 1.571;
    Rotation z1 = of(start), z2, z3 = rocker_of(z1, &z2);
    double q1 = start, q2 = std::atan2(z2.s, z2.c), q3 = std::atan2(z3.s, z3.c);
    double v1 = 0, v2 = 0, v3 = 0, worst = 0;
    Rotation drive{1, 0};
    const Rotation drive_step = of(w * h);

    for (long k = 0; k < steps; k++) {
        const double error = amplitude * drive.s - q1;
        if (k >= settled) worst = std::max(worst, std::fabs(error));
        const double torque = law({z1, v1, error, amplitude * w * drive.c - v1, -amplitude * w * w * drive.s});

        // velocities and positions without contact
        const double M23 = coupling * (z2.c * z3.c + z2.s * z3.s), B = coupling * (z2.c * z3.s - z2.s * z3.c);
        const double f1 = torque - weight1 * z1.c;
        const double f2 = B * v3 * v3 - weight2 * z2.c, f3 = -B * v2 * v2 - weight3 * z3.c;
        const double determinant = 1 / (M22 * M33 - M23 * M23);
        const double a22 = M33 * determinant, a33 = M22 * determinant, a23 = -M23 * determinant;
        double u1 = v1 + h * inverse1 * f1, u2 = v2 + h * (a22 * f2 + a23 * f3), u3 = v3 + h * (a23 * f2 + a33 * f3);
        const double d1 = 0.5 * h * (v1 + u1), d2 = 0.5 * h * (v2 + u2), d3 = 0.5 * h * (v3 + u3);
        q1 += d1, q2 += d2, q3 += d3;
        z1 = turned(z1, d1), z2 = turned(z2, d2), z3 = turned(z3, d3);

        const double x = l4 + l3 * z3.c - l2 * z2.c - l1 * z1.c, y = l3 * z3.s - l2 * z2.s - l1 * z1.s;
        const double distance2 = x * x + y * y;
        if (distance2 >= clearance * clearance) {
            const double inverse = 1 / std::sqrt(distance2), nx = x * inverse, ny = y * inverse;
            const double g1 = l1 * (ny * z1.c - nx * z1.s), t1 = l1 * -(nx * z1.c + ny * z1.s) - bearing;
            const double g2 = l2 * (ny * z2.c - nx * z2.s), t2 = l2 * -(nx * z2.c + ny * z2.s) + journal;
            const double g3 = l3 * (nx * z3.s - ny * z3.c), t3 = l3 * (nx * z3.c + ny * z3.s);
            const double G1 = inverse1 * g1, G2 = a22 * g2 + a23 * g3, G3 = a23 * g2 + a33 * g3;
            const double T1 = inverse1 * t1, T2 = a22 * t2 + a23 * t3, T3 = a23 * t2 + a33 * t3;
            const double Wnn = g1 * G1 + g2 * G2 + g3 * G3, Wtt = t1 * T1 + t2 * T2 + t3 * T3;
            const double Wnt = g1 * T1 + g2 * T2 + g3 * T3;
            const double bn = g1 * u1 + g2 * u2 + g3 * u3 + restitution * (g1 * v1 + g2 * v2 + g3 * v3);
            const double bt = t1 * u1 + t2 * u2 + t3 * u3;

            double pn = 0, pt = 0;
            if (bn < 0) {
                const double slope = bt > 0 ? -mu : mu;  // slip
                pn = -bn / (Wnn + slope * Wnt);
                pt = slope * pn;
                if ((bt + (Wnt + slope * Wtt) * pn) * slope > 0) {  // stick, else slip the other way
                    const double inv = 1 / (Wnn * Wtt - Wnt * Wnt);
                    const double n = (bt * Wnt - bn * Wtt) * inv, t = (bn * Wnt - bt * Wnn) * inv;
                    const double back = bn / (slope * Wnt - Wnn);
                    const bool inside = std::fabs(t) <= mu * n;
                    pn = inside ? n : back;
                    pt = inside ? t : -slope * back;
                }
            }
            const double j1 = G1 * pn + T1 * pt, j2 = G2 * pn + T2 * pt, j3 = G3 * pn + T3 * pt;
            u1 += j1, u2 += j2, u3 += j3;

            // theta rule, then one Newton step onto the bearing
            double c1 = 0.5 * h * j1, c2 = 0.5 * h * j2, c3 = 0.5 * h * j3;
            const double ex = x + l1 * z1.s * c1 + l2 * z2.s * c2 - l3 * z3.s * c3;
            const double ey = y - l1 * z1.c * c1 - l2 * z2.c * c2 + l3 * z3.c * c3;
            const double inside = clearance - std::sqrt(ex * ex + ey * ey), push = inside < 0 ? -inside / Wnn : 0;
            c1 += G1 * push, c2 += G2 * push, c3 += G3 * push;
            q1 += c1, q2 += c2, q3 += c3;
            z1 = corrected(z1, c1), z2 = corrected(z2, c2), z3 = corrected(z3, c3);
        }
        v1 = u1, v2 = u2, v3 = u3;

        drive = {drive.c * drive_step.c - drive.s * drive_step.s, drive.s * drive_step.c + drive.c * drive_step.s};
        if (k % refresh == refresh - 1) {
            drive = of(w * (double(k + 1) * h));
            z1 = of(q1), z2 = of(q2), z3 = of(q3);
        }
    }
    return worst * 180 / M_PI;
}

}  // namespace

int main(int count, char** arguments) {
    const bool feedback = count > 1 && std::strcmp(arguments[1], "feedback") == 0;
    const int repetitions = count > 2 ? std::atoi(arguments[2]) : 7;
    double best = 1e300, error = 0;
    for (int i = 0; i < repetitions; i++) {
        const double begin = seconds();
        error = feedback ? simulate<Feedback>() : simulate<Pd>();
        best = std::min(best, seconds() - begin);
    }
    std::printf("{\"ns\": %.2f, \"max_error_deg\": %.6f}\n", best / steps * 1e9, error);
}
