"""The corpus by REST: what readers see on its pages, for programs. Only published studies, as everywhere."""
