//! What a page has heard: a refusal that left the proxy may not have reached a page on a busy machine
//! when its next call leaves, or may have come for a page that was just left. Only the browser knows.
//! So each call says which refusals its browser has heard.

use crate::Result;
use crate::browser::Browser;
use crate::fault::FaultProxy;

/// The header that names a call.
pub const MARK: &str = "x-test-call";

/// The header that lists the refusals heard before it.
pub const HEARD: &str = "x-test-heard";

/// How long a page may take from an answer's first bytes to knowing what it says.
const WITHIN_MS: u32 = 300;

/// Makes the pages that the present tab loads from now on, through this proxy, say what they have heard.
///
/// # Errors
///
/// As for [`FaultProxy::before_each_page`].
pub async fn listen(browser: &Browser, proxy: &FaultProxy) -> Result<()> {
    let script = "
        (() => {
            const page = Math.random().toString(36).slice(2);
            const heard = () => JSON.parse(localStorage.getItem('test.heard') ?? '[]');
            const ask = window.fetch;
            let count = 0;
            window.fetch = async (...call) => {
                const request = new Request(...call);
                if (!new URL(request.url).pathname.startsWith('/v2/')) return ask(request);
                const mark = `${page}.${count++}`;
                const before = Date.now() - WITHIN;
                const known = heard().filter(([, at]) => at < before).map(([mark]) => mark);
                request.headers.set('MARK', mark);
                request.headers.set('HEARD', known.join(' '));
                const reply = await ask(request);
                if (reply.headers.has('retry-after')) {
                    const all = [...heard(), [mark, Date.now()]];
                    localStorage.setItem('test.heard', JSON.stringify(all));
                }
                return reply;
            };
        })()"
        .replace("MARK", MARK)
        .replace("HEARD", HEARD)
        .replace("WITHIN", &WITHIN_MS.to_string());
    proxy.before_each_page(browser, &script).await
}
