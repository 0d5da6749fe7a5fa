"""Each job has an exporter of spans of its own, and shuts it down."""
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from loop import turns

for turn in turns(60):
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(InMemorySpanExporter()))
    with provider.get_tracer("jobs").start_as_current_span("job"):
        pass
    provider.shutdown()
