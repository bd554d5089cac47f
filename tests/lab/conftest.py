"""The small library of studies that the tests of answers use."""

from tests.qa.conftest import encoder as encoder
from tests.qa.conftest import library as library
