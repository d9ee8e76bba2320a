"""Spans and metrics for OpenTelemetry; loaded where a gateway is instrumented, and nowhere else."""
