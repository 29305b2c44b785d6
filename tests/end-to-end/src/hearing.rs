//! Which refusals a browser has received when a call leaves. A refusal that left the proxy may not have reached the
//! page when its next call leaves, or may have been meant for a page that was just left. Only the browser knows, so each
//! call lists the refusals that its browser has received. No clock is involved.

use crate::Result;
use crate::browser::Browser;
use crate::fault::FaultProxy;

/// The header that names a call.
pub const MARK: &str = "x-test-call";

/// The header that lists the refusals received before it.
pub const HEARD: &str = "x-test-heard";

/// Makes the pages that the present tab loads from now on, through this proxy, list what they have received.
///
/// # Errors
///
/// As for [`FaultProxy::before_each_page`].
pub async fn listen(browser: &Browser, proxy: &FaultProxy) -> Result<()> {
    proxy.before_each_page(browser, &script()).await
}

/// The script that makes a page list what it has received. It has to run before those of the page.
pub fn script() -> String {
    // The page has received a refusal once it has read its body to the end, or to where it breaks off, and has had a
    // turn to act on it.
    "
        (() => {
            const page = Math.random().toString(36).slice(2);
            const heard = () => JSON.parse(localStorage.getItem('test.heard') ?? '[]');
            const ask = window.fetch;
            let count = 0;
            window.fetch = async (...call) => {
                const request = new Request(...call);
                if (!new URL(request.url).pathname.startsWith('/v2/')) return ask(request);
                const mark = `${page}.${count++}`;
                request.headers.set('MARK', mark);
                request.headers.set('HEARD', heard().join(' '));
                const reply = await ask(request);
                if (reply.headers.has('retry-after')) {
                    const add = () => {
                        // Storage may be full, by the test's own doing.
                        try { localStorage.setItem('test.heard', JSON.stringify([...heard(), mark])); } catch {}
                    };
                    reply.clone().arrayBuffer().catch(() => {}).then(() => setTimeout(add));
                }
                return reply;
            };
        })()"
    .replace("MARK", MARK)
    .replace("HEARD", HEARD)
}
