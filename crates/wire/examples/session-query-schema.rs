//! Prints the JSON Schema of `sessionQuery.*`. `cargo xtask docs` keeps it in `docs/reference`.

#![allow(clippy::print_stdout, reason = "printing is all it does")]

fn main() {
    println!("{:#}", lookback_wire::session_query::schema::document());
}
