//! `atelier-service`: the local service as a program. See the library's documentation.

use std::io::Write;
use std::process::ExitCode;

use atelier_service::config::{Command, Role};
use atelier_service::{Cli, Config, StartError, command, logging, private, serve, work};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> ExitCode {
    let line = std::env::args_os();
    let Cli { command, config } = Cli::read(line).unwrap_or_else(|error| error.exit());
    let (command, config) = match command {
        Some(Command::Serve(config)) => (None, with_role(*config, Role::Serve)),
        Some(Command::Work(config)) => (None, with_role(*config, Role::Work)),
        other => (other, config),
    };
    logging::begin(config.log);
    private::from_now_on();
    if let Some(command) = &command {
        return command::run(command, &config);
    }
    match run(config).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn with_role(config: Config, role: Role) -> Config {
    Config { role, ..config }
}

async fn run(config: Config) -> Result<(), StartError> {
    if config.role == Role::Work {
        return work(config, stop_asked).await;
    }
    let listener = TcpListener::bind(config.listen)
        .await
        .map_err(|error| StartError::Listen(config.listen, error))?;
    let address = listener
        .local_addr()
        .map_err(|error| StartError::Listen(config.listen, error))?;
    // The one line on standard output: with `--listen 127.0.0.1:0` it tells the port. Whether
    // anybody reads it makes no difference to the service.
    let _ = writeln!(std::io::stdout(), "Listening on http://{address}");
    serve(config, listener, stop_asked).await
}

/// Ends on Ctrl-C, or when the system asks the process to end.
async fn stop_asked() {
    let interrupt = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    #[cfg(unix)]
    let terminate = async {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminate = std::future::pending::<()>();
    tokio::select! {
        () = interrupt => {}
        () = terminate => {}
    }
}
