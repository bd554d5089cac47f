"""What operators see of the site: metrics, traces, error reports, and its health in plain words."""
