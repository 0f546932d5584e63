"""What is written in the engine's operations: functions, linear algebra, Newton's method, tables, signals."""
