"""The options of a request that a model's server understands."""

from __future__ import annotations

from dataclasses import dataclass, replace

from qa_app.writers.records import ModelRequest

FORMATS = ("bounded_schema", "json_schema", "json_object", "text")
"""Ways to ask for JSON, the strictest first."""
STREAM_OPTIONS = {"include_usage": True}


@dataclass(frozen=True, slots=True)
class Dialect:
    """The request options that a server supports."""

    format: str = FORMATS[0]
    limit: str = "max_completion_tokens"
    """Field for the longest reply; empty where the server supports none."""
    has_temperature: bool = True
    has_stream: bool = True
    has_stream_options: bool = True

    def without(self, parameter: str | None) -> Dialect | None:
        """Return a dialect without the refused parameter, or one step simpler; None where nothing is left to omit."""
        if parameter == "temperature" and self.has_temperature:
            return replace(self, has_temperature=False)
        if self.limit and parameter == self.limit:
            return self._simplify_limit()
        if parameter in ("stream", "stream_options") and self.has_stream:
            return self._simplify_stream(parameter)
        if self.format != FORMATS[-1]:
            return replace(self, format=FORMATS[FORMATS.index(self.format) + 1])
        if self.limit:
            return self._simplify_limit()
        return self._simplify_stream("stream_options") if self.has_stream else None

    def _simplify_limit(self) -> Dialect:
        return replace(self, limit="max_tokens" if self.limit == "max_completion_tokens" else "")

    def _simplify_stream(self, parameter: str) -> Dialect:
        keeps = parameter == "stream_options" and self.has_stream_options
        return replace(self, has_stream=keeps, has_stream_options=False)

    def options(self, request: ModelRequest, reply_tokens: int) -> dict[str, object]:
        """Return the fields of the request besides model and messages."""
        options: dict[str, object] = {"temperature": 0} if self.has_temperature else {}
        if self.format in ("bounded_schema", "json_schema"):
            schema = (self.format == "bounded_schema" and request.bounded_schema) or request.schema
            described = {"name": request.name, "strict": True, "schema": schema}
            options["response_format"] = {"type": "json_schema", "json_schema": described}
        elif self.format == "json_object":
            options["response_format"] = {"type": "json_object"}
        if self.limit:
            options[self.limit] = reply_tokens
        if self.has_stream and request.reader is not None:
            options["stream"] = True
            if self.has_stream_options:
                options["stream_options"] = STREAM_OPTIONS
        return options
