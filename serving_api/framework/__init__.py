"""What every route is made with: routing, envelope, errors, permissions, parameters, OpenAPI document."""
