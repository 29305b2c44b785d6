//! A TCP proxy that delays, holds and cuts connections.

#![allow(dead_code)] // Each test file uses only a part of this module.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// What the proxy does with data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Forward,
    /// Forwards each part after a delay.
    Delay(Duration),
    /// Forwards nothing, and keeps the connections open.
    Hold,
    /// Closes all connections, and refuses new ones.
    Refuse,
}

#[derive(Debug, Clone, Copy)]
struct State {
    mode: Mode,
    /// The number of times that all connections were cut.
    cuts: u64,
}

pub struct Proxy {
    pub address: SocketAddr,
    state: watch::Sender<State>,
}

impl Proxy {
    /// Starts a proxy on a free port of loopback, which ends with the runtime.
    pub fn start(runtime: &Runtime, target: SocketAddr) -> Self {
        let (state, receiver) = watch::channel(State {
            mode: Mode::Forward,
            cuts: 0,
        });
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(serve(client, target, receiver.clone()));
            }
        });
        Self { address, state }
    }

    pub fn set(&self, mode: Mode) {
        self.state.send_modify(|state| state.mode = mode);
    }

    /// Closes all connections. New ones work.
    pub fn cut(&self) {
        self.state.send_modify(|state| state.cuts += 1);
    }
}

async fn serve(client: TcpStream, target: SocketAddr, mut state: watch::Receiver<State>) {
    let State { mode, cuts } = *state.borrow();
    if mode == Mode::Refuse {
        return;
    }
    let Ok(server) = TcpStream::connect(target).await else {
        return;
    };
    // Nagle's algorithm would add delays.
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let both = [state.clone(), state.clone()];
    let [up, down] = both;
    let is_cut = state.wait_for(|state| state.cuts != cuts || state.mode == Mode::Refuse);
    tokio::select! {
        _ = is_cut => {}
        _ = async {
            tokio::join!(
                forward(from_client, to_server, up),
                forward(from_server, to_client, down),
            )
        } => {}
    }
}

async fn forward(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut state: watch::Receiver<State>,
) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        let passing = state.wait_for(|state| state.mode != Mode::Hold).await;
        let Ok(mode) = passing.map(|state| state.mode) else {
            return;
        };
        if let Mode::Delay(delay) = mode {
            tokio::time::sleep(delay).await;
        }
        if to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
    // An error means that the other side has closed the connection.
    let _ = to.shutdown().await;
}
