//! What the program does instead of serving.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::config::Command;
use crate::model_file;

/// Does it; what it answers goes to standard output.
pub fn run(command: &Command) -> ExitCode {
    let done = match command {
        Command::ModelsSchema => models_schema(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("atelier-service: {error}");
            ExitCode::FAILURE
        }
    }
}

fn models_schema() -> io::Result<()> {
    let schema = serde_json::to_string_pretty(&model_file::json_schema())?;
    writeln!(io::stdout(), "{schema}")
}
