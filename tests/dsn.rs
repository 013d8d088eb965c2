//! Connection strings: read as libpq reads them, and protected as libpq protects. The real libpq, psql and PostgreSQL
//! judge; their absence is a failure, `install/test` brings them.

mod around;
mod authority;
mod cluster;
mod defaults;
mod libpq;
mod matrix;
mod meaning;
mod pooler;
mod reach;
mod secrecy;
mod words;
