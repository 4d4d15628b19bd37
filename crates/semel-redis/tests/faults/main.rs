//! What happens to servers and networks, done to real ones: each with the outcome that the
//! contract gives it.

mod cluster;
mod cuts;
mod fail_over;
mod full;
mod hints;
mod hostile;
mod kill;
mod pause;
mod preflight;
mod reconnect;
mod refused;
mod round_trips;
mod separate;
mod support;
mod tls;
mod wiped;
