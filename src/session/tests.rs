//! Assemblies that talk over a network of the test's own.
