//! `fault-proxy --service URL --listen ADDRESS` runs the proxy of [`atelier_end_to_end::fault`] as a process, for
//! tests that run inside a browser.

use atelier_end_to_end::Result;
use atelier_end_to_end::fault::FaultProxy;

const USAGE: &str = "fault-proxy --service URL --listen ADDRESS";

#[tokio::main]
async fn main() -> Result<()> {
    let (mut service, mut listen) = (None, None);
    let mut args = std::env::args().skip(1);
    while let Some(flag) = args.next() {
        let value = args.next().ok_or(USAGE)?;
        match flag.as_str() {
            "--service" => service = Some(value),
            "--listen" => listen = Some(value.parse()?),
            _ => return Err(USAGE.into()),
        }
    }
    let (Some(service), Some(listen)) = (service, listen) else {
        return Err(USAGE.into());
    };
    let proxy = FaultProxy::listen(&service, listen).await?;
    println!("{}", proxy.address());
    proxy.wait().await
}
