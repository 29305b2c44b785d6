//! `atelier-service`: the local service as a program. See the library's documentation.

use std::io::Write;
use std::process::ExitCode;
use std::sync::{Arc, LazyLock};

use atelier_service::config::{Command, Role};
use atelier_service::{Cli, Config, StartError, command, logging, private, serve, work};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

#[tokio::main]
async fn main() -> ExitCode {
    let line = std::env::args_os();
    let Cli { command, config } = Cli::read(line).unwrap_or_else(|error| error.exit());
    let (command, config) = match command {
        Some(Command::Serve(config)) => (None, with_role(*config, Role::Serve)),
        Some(Command::Work(config)) => (None, with_role(*config, Role::Work)),
        other => (other, config),
    };
    // `doctor` writes its findings to standard output; logging them would report them twice.
    if !matches!(command, Some(Command::Doctor(_))) {
        logging::begin(config.log);
    }
    private::restrict_umask();
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
    // The handlers are set when `serve` is ready or `work` first waits for a request. Until then a signal ends the process,
    // so that a slow start can be stopped.
    let requests = LazyLock::new(stop_requests);
    let stop_requested = async || next(&requests).await;
    if config.role == Role::Work {
        return work(config, stop_requested).await;
    }
    let listener = TcpListener::bind(config.listen)
        .await
        .map_err(|error| StartError::Listen(config.listen, error))?;
    let address = listener
        .local_addr()
        .map_err(|error| StartError::Listen(config.listen, error))?;
    // The only line on standard output, written once the start can't fail any more. With `--listen 127.0.0.1:0` it
    // shows the port. Write errors don't affect the service. A reader of the line may request a stop at once.
    let ready = || {
        LazyLock::force(&requests);
        let _ = writeln!(std::io::stdout(), "Listening on http://{address}");
    };
    serve(config, listener, ready, stop_requested).await
}

/// Starts counting stop requests: Ctrl-C or a signal. A background task receives the signals permanently, so that two
/// signals in quick succession count twice.
fn stop_requests() -> Arc<Semaphore> {
    let requests = Arc::new(Semaphore::new(0));
    let counted = requests.clone();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let interrupt = signal(SignalKind::interrupt());
        let terminate = signal(SignalKind::terminate());
        // If the handlers can't be set, a signal ends the process.
        if let (Ok(mut interrupt), Ok(mut terminate)) = (interrupt, terminate) {
            tokio::spawn(async move {
                loop {
                    tokio::select! {
                        _ = interrupt.recv() => {}
                        _ = terminate.recv() => {}
                    }
                    counted.add_permits(1);
                }
            });
        }
    }
    #[cfg(not(unix))]
    tokio::spawn(async move {
        while tokio::signal::ctrl_c().await.is_ok() {
            counted.add_permits(1);
        }
    });
    requests
}

/// Waits for the next stop request.
async fn next(requests: &Semaphore) {
    // The semaphore is never closed.
    if let Ok(request) = requests.acquire().await {
        request.forget();
    }
}
