"""What programs ask: /api/v1/. A view says by attributes what it needs (`scope`, `quota`); the site holds it to them."""
