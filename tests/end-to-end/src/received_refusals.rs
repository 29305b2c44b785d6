//! Records which refusals (responses with `Retry-After`) a browser had received when it sent a call. A refusal that
//! left the proxy may not have reached the page when its next call leaves, or may have been sent to a page that was
//! just closed. The proxy can't tell these cases apart, so each call lists the refusals that its browser has received.

use crate::Result;
use crate::browser::Browser;
use crate::fault::FaultProxy;

/// The header that names a call.
pub const CALL_ID: &str = "x-test-call";

/// The header that lists the refusals received before it.
pub const RECEIVED: &str = "x-test-received";

/// Makes pages that the current tab loads through this proxy from now on report the refusals they have received.
///
/// # Errors
///
/// As for [`FaultProxy::before_each_page`].
pub async fn report(browser: &Browser, proxy: &FaultProxy) -> Result<()> {
    proxy.before_each_page(browser, &script()).await
}

/// Returns the script that makes a page report the refusals it has received. It must run before the scripts of the
/// page.
pub fn script() -> String {
    // A refusal counts as received after its body has ended or broken off, and after a macrotask in which the page
    // can react.
    "
        (() => {
            const page = Math.random().toString(36).slice(2);
            const received = () => JSON.parse(localStorage.getItem('test.received') ?? '[]');
            const send = window.fetch;
            let count = 0;
            window.fetch = async (...call) => {
                const request = new Request(...call);
                if (!new URL(request.url).pathname.startsWith('/v2/')) return send(request);
                const id = `${page}.${count++}`;
                request.headers.set('CALL_ID', id);
                request.headers.set('RECEIVED', received().join(' '));
                const reply = await send(request);
                if (reply.headers.has('retry-after')) {
                    const add = () => {
                        // The test may have filled the storage.
                        try { localStorage.setItem('test.received', JSON.stringify([...received(), id])); } catch {}
                    };
                    reply.clone().arrayBuffer().catch(() => {}).then(() => setTimeout(add));
                }
                return reply;
            };
        })()"
    .replace("CALL_ID", CALL_ID)
    .replace("RECEIVED", RECEIVED)
}
