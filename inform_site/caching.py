"""Django's Redis cache, which a Redis that hangs or is away cannot slow down."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

PAUSE_SECONDS = 30.0
logger = logging.getLogger(__name__)


def _guarded(name: str) -> Callable[..., Any]:
    """Return a method that asks Redis, or this process's memory while Redis fails."""

    def method(self: SteadyRedisCache, *arguments: Any, **options: Any) -> Any:
        if time.monotonic() >= self.resumes_at:
            try:
                return getattr(super(SteadyRedisCache, self), name)(*arguments, **options)
            except (RedisError, OSError) as error:
                self.resumes_at = time.monotonic() + PAUSE_SECONDS
                logger.warning("Redis fails (%s); this process uses its memory for a while.", type(error).__name__)
        return getattr(self.memory, name)(*arguments, **options)

    return method


class SteadyRedisCache(RedisCache):
    """A circuit breaker: after a failure, memory is used for PAUSE_SECONDS. Its content is that of one process."""

    def __init__(self, server: Any, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self.memory = LocMemCache("redis-fallback", {})
        self.resumes_at = 0.0

    add = _guarded("add")
    get = _guarded("get")
    set = _guarded("set")
    touch = _guarded("touch")
    delete = _guarded("delete")
    has_key = _guarded("has_key")
    incr = _guarded("incr")
    get_many = _guarded("get_many")
    set_many = _guarded("set_many")
    delete_many = _guarded("delete_many")
    clear = _guarded("clear")
