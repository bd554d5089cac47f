"""The OpenAPI description: what every operation has in common is added here, from what its view declares."""

from __future__ import annotations

from drf_spectacular.openapi import AutoSchema


class Schema(AutoSchema):
    pass
