//! Keeps the relocations in a wasm that is to be split: `wasm-split-cli` goes by them. Said here and
//! not in flags of the compiler, only the last step is another one, and every dependency is built once.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_SPLIT").is_some() {
        println!("cargo::rustc-link-arg-bins=--emit-relocs");
    }
}
