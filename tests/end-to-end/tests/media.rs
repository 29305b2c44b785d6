//! Tests of how outputs are shown: waveforms, videos, and the layout of results.

use atelier_end_to_end::Result;
use atelier_end_to_end::browser::Browser;
use atelier_end_to_end::find::{by, containing, starting};
use atelier_end_to_end::generation::generate;
use atelier_end_to_end::service::Service;
use atelier_end_to_end::story::drive;
use atelier_end_to_end::wait::wait_for_value;
use fantoccini::actions::{InputSource, MouseActions, PointerAction};
use serde_json::Value;
use std::time::Duration;

/// The time limit for a generation on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Guards against audio outputs that all look the same in a list, and against a waveform that does not seek.
#[tokio::test(flavor = "multi_thread")]
async fn audio_waveform_is_shown_in_lists_and_above_player() {
    drive(
        "audio_waveform_is_shown_in_lists_and_above_player",
        async |browser| {
            let service = Service::start_with_site(&["--speed", "0"]).await?;
            let address = service.address();
            generate(browser, &address, "audio/reverie", "slow rain").await?;
            // The waveform has strokes of many different heights.
            let strokes = "
            const path = document.querySelector('ARTICLE .waveform path')?.getAttribute('d') ?? '';
            return new Set(path.split('M')).size > 20";
            let large = strokes.replace("ARTICLE", "article");
            wait_for_value(browser, "the waveform", &large, true).await?;
            let press = "
            const drawing = document.querySelector('.waveform.large');
            const { left, width, top, height } = drawing.getBoundingClientRect();
            drawing.dispatchEvent(new PointerEvent('pointerdown',
                { clientX: left + width / 2, clientY: top + height / 2, bubbles: true }));
            const { currentTime, duration } = document.querySelector('audio');
            return Math.round(currentTime / duration * 10)";
            wait_for_value(
                browser,
                "the position after a press in the middle",
                press,
                5,
            )
            .await?;

            browser.press(&by("link", "Tasks")).await?;
            browser.find(&containing("link", "slow rain")).await?;
            let small = strokes.replace("ARTICLE", "");
            wait_for_value(browser, "the waveform in the task list", &small, true).await?;
            browser.press(&by("link", "Gallery")).await?;
            browser.find(&containing("button", "slow rain")).await?;
            wait_for_value(browser, "the waveform in the gallery", &small, true).await
        },
    )
    .await;
}

/// Moves the pointer to the first element that matches the selector.
async fn hover(browser: &Browser, selector: &str) -> Result<()> {
    let script = "
        const { left, top, width, height } = document.querySelector(arguments[0]).getBoundingClientRect();
        return [Math.round(left + width / 2), Math.round(top + height / 2)]";
    let place = browser.run(script, vec![selector.into()]).await?;
    let at = |axis: usize| place[axis].as_i64().unwrap_or_default() as f64;
    let moves = MouseActions::new("mouse".to_owned()).then(PointerAction::MoveTo {
        duration: Some(Duration::ZERO),
        x: at(0),
        y: at(1),
    });
    Ok(browser.client.perform_actions(moves).await?)
}

/// Guards against a small video in a large empty area, far from its controls, or scaled up in a comparison, and
/// against a waveform far from its player.
#[tokio::test(flavor = "multi_thread")]
async fn video_and_audio_fill_lightbox_and_comparison() {
    drive("video_and_audio_fill_lightbox_and_comparison", async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        let address = service.address();
        browser.set_size(1440, 900).await?;
        generate(browser, &address, "video/silk", "red silk").await?;
        generate(browser, &address, "audio/reverie", "slow rain").await?;
        browser.press(&by("link", "Gallery")).await?;
        let has_own_size = "
            const film = document.querySelector('CONTAINER video');
            const { width, height } = film?.getBoundingClientRect() ?? {};
            return !!film?.videoWidth
                && Math.abs(width - film.videoWidth) < 1 && Math.abs(height - film.videoHeight) < 1";
        let fills_stage = "
            const film = document.querySelector('.stage video');
            const stage = document.querySelector('.stage');
            if (!film?.videoWidth) return 'no video yet';
            const { width, height } = film.getBoundingClientRect();
            const style = getComputedStyle(stage);
            const wide = stage.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
            const high = stage.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom);
            const fills = Math.abs(width - wide) < 2 || Math.abs(height - high) < 2
                || Math.abs(width - 1.5 * film.videoWidth) < 2;
            const hasItsRatio = Math.abs(width / height - film.videoWidth / film.videoHeight) < 0.02;
            return fills && hasItsRatio && width <= wide + 1 && height <= high + 1
                ? 'fills it' : `${width} by ${height} in ${wide} by ${high}`";
        let together = "
            const drawing = document.querySelector('CONTAINER .waveform');
            const player = document.querySelector('CONTAINER audio');
            if (!drawing || !player) return 'not loaded yet';
            const container = document.querySelector('CONTAINER').getBoundingClientRect();
            const [above, below] = [drawing, player].map(it => it.getBoundingClientRect());
            const gap = below.top - above.bottom;
            const offset = Math.abs(above.top + below.bottom - container.top - container.bottom) / 2;
            return gap >= 0 && gap < 40 && offset < 20 ? 'together' : `${gap} px apart, ${offset} px off center`";
        browser.press(&starting("button", "Video: red silk")).await?;
        browser.find(&by("dialog", "Output")).await?;
        wait_for_value(browser, "the video in the lightbox", fills_stage, "fills it").await?;
        // Space controls the player if no button has the focus.
        let paused = "return String(document.querySelector('.stage video').paused)";
        for expected in ["true", "false"] {
            browser.client.active_element().await?.send_keys(" ").await?;
            wait_for_value(browser, "whether the video is paused", paused, expected).await?;
        }
        // Shows the duration of the video and the generation time.
        browser.wait_for_text("s long", TIMEOUT).await?;
        browser.wait_for_text("made in", TIMEOUT).await?;
        browser.press(&by("button", "Previous")).await?;
        let large = together.replace("CONTAINER", ".stage");
        wait_for_value(browser, "the waveform and its player", &large, "together").await?;
        // No model of this service accepts audio, so the button is disabled with a reason.
        let reason = "
            const button = [...document.querySelectorAll('.lightbox button')].find(
                it => it.textContent.trim() === 'Use as input');
            return button?.getAttribute('aria-disabled') === 'true' ? button.title : ''";
        wait_for_value(browser, "the reason", reason, "No model accepts it.").await?;
        // A press on it opens no menu, but shows the reason to users who can't see titles.
        browser.press(&by("button", "Use as input")).await?;
        let after_press = "
        const isOpen = document.querySelector('.lightbox .menu:popover-open');
            const answer = document.querySelector('.lightbox .answer')?.innerText ?? '';
            return isOpen ? 'a menu' : answer.includes('No model accepts it.') ? 'a message' : 'nothing'";
        wait_for_value(browser, "the effect of a press", after_press, "a message").await?;
        // Audio and video can't be compared with a slider.
        browser.press(&by("button", "Compare")).await?;
        browser.find(&by("dialog", "Compare")).await?;
        let compared = has_own_size.replace("CONTAINER", ".compared");
        wait_for_value(browser, "the video in the comparison", &compared, true).await?;
        let no_slider = "
            const choice = [...document.querySelectorAll('fieldset')].find(it => it.innerText.includes('Slider'));
            return String(!choice?.checkVisibility())";
        wait_for_value(browser, "whether there is no slider", no_slider, "true").await?;
        // The waveform and player are above the list of differences.
        let compared = "
            const [drawing, player] = ['.waveform', 'audio'].map(
                it => document.querySelector(`.compared-output ${it}`)?.getBoundingClientRect());
            const below = document.querySelector('.differences')?.getBoundingClientRect();
            if (!drawing || !player || !below) return 'not loaded yet';
            const gap = player.top - drawing.bottom;
            return gap >= 0 && gap < 40 && below.top >= player.bottom
                ? 'together' : `${gap} px apart, ${below.top - player.bottom} px above the differences`";
        wait_for_value(browser, "the audio in the comparison", compared, "together").await
    })
    .await;
}

/// Guards against videos in a list that all play at once, play with sound, or don't play at all.
#[tokio::test(flavor = "multi_thread")]
async fn video_in_list_plays_only_while_hovered() {
    drive("video_in_list_plays_only_while_hovered", async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        let address = service.address();
        generate(browser, &address, "video/silk", "red silk").await?;
        let playing = "
            const { muted, loop, controls, readyState } = document.querySelector('article video');
            return [muted, loop, controls, readyState > 0]";
        let all = Value::from(vec![true; 4]);
        wait_for_value(browser, "a muted video", playing, all).await?;

        browser.press(&by("link", "Tasks")).await?;
        browser.find(&containing("link", "red silk")).await?;
        let still = "
            const { paused, muted, currentTime, readyState } = document.querySelector('video.still');
            return [paused, muted, currentTime < 0.1, readyState > 1]";
        let all = Value::from(vec![true; 4]);
        wait_for_value(browser, "a paused first frame", still, all).await?;
        hover(browser, "video.still").await?;
        let plays = "
            const { paused, currentTime } = document.querySelector('video.still');
            return !paused && currentTime > 0.1";
        wait_for_value(browser, "a playing video", plays, true).await?;
        hover(browser, "h1").await?;
        let is_paused = "return document.querySelector('video.still').paused";
        wait_for_value(browser, "a paused video", is_paused, true).await
    })
    .await;
}

/// Guards against buttons that lose their labels or wrap into several rows below a narrow picture, and against
/// buttons of different sizes.
#[tokio::test(flavor = "multi_thread")]
async fn task_actions_are_in_one_row_below_picture() {
    drive("task_actions_are_in_one_row_below_picture", async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        browser.set_size(1440, 900).await?;
        // A portrait picture is narrower than the pane.
        generate(browser, &service.address(), "image/tessera", "amber").await?;
        let row = "
            const image = document.querySelector('.picture > img');
            if (!image?.naturalWidth) return 'no picture';
            const { bottom } = image.getBoundingClientRect();
            const buttons = [...document.querySelectorAll('.task-actions :is(button, select)')]
                .filter(it => it.checkVisibility())
                .map(it => it.getBoundingClientRect());
            const tops = new Set(buttons.map(it => Math.round(it.top)));
            const heights = new Set(buttons.map(it => Math.round(it.height)));
            if (tops.size > 1 || heights.size > 1) return `tops ${[...tops]}, heights ${[...heights]}`;
            const end = Math.max(...buttons.map(it => it.right));
            if (end > document.documentElement.clientWidth) return `it ends at ${end}`;
            return buttons[0].top >= bottom ? String(buttons.length) : 'not below it';";
        // Vary, its count, Run again, Edit, Download, Favorite and the menu. On phones Vary, Use as input, Download,
        // Favorite and the menu, which contains the others.
        for (width, height, buttons) in [(1440, 900, "7"), (768, 1024, "7"), (360, 740, "5"), (320, 640, "5")] {
            browser.set_size(width, height).await?;
            wait_for_value(browser, &format!("the row of actions at {width}"), row, buttons).await?;
        }
        Ok(())
    })
    .await;
}

/// Guards against a placeholder that is narrower than the result, so that all content below shifts, and against a
/// page with a result that is taller than the viewport.
#[tokio::test(flavor = "multi_thread")]
async fn result_fills_its_placeholder_without_layout_shift() {
    drive("result_fills_its_placeholder_without_layout_shift", async |browser| {
        let service = Service::start_with_site(&["--speed", "3"]).await?;
        browser.set_size(1440, 900).await?;
        let page = format!("{}/models/image/strata", service.address());
        browser.open(&page).await?;
        let prompt = starting("textbox", "prompt");
        // Waits for the web font.
        browser.wait_until_settled().await?;
        browser.fill(&prompt, "cobalt ridges").await?;
        browser.press(&by("button", "Generate")).await?;
        let note = "
        const place = document.querySelector('.media-place > .waiting');
            if (!place) return false;
            window.placeholders = place.getBoundingClientRect();
            return true";
        wait_for_value(browser, "a placeholder", note, true).await?;
        let compare = "
            const image = document.querySelector('.picture > img');
            if (!image?.naturalWidth) return 'no picture';
            const [now, then] = [image.getBoundingClientRect(), window.placeholders];
            const moved = ['left', 'top', 'right', 'bottom'].filter(side => Math.abs(now[side] - then[side]) > 2);
            if (moved.length > 0) return `${moved} of ${JSON.stringify(then)} and ${JSON.stringify(now)}`;
            return document.documentElement.scrollHeight <= innerHeight ? 'there' : 'the page scrolls'";
        wait_for_value(browser, "the picture", compare, "there").await
    })
    .await;
}

/// Guards against one placeholder for several outputs, which then shift all content below.
#[tokio::test(flavor = "multi_thread")]
async fn several_results_fill_their_placeholders_without_layout_shift() {
    drive("several_results_fill_their_placeholders_without_layout_shift", async |browser| {
        let service = Service::start_with_site(&["--speed", "3"]).await?;
        browser.set_size(1440, 900).await?;
        let page = format!("{}/models/image/tessera", service.address());
        browser.open(&page).await?;
        let prompt = starting("textbox", "prompt");
        // Waits for the web font.
        browser.wait_until_settled().await?;
        browser.fill(&prompt, "cobalt panes").await?;
        browser
            .fill(&by("spinbutton", "num_outputs"), "3")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        let note = "
        const places = [...document.querySelectorAll('.outputs > :is(.waiting, .output-place)')];
            if (places.length !== 3) return `${places.length} places`;
            window.placeholders = places.map(place => place.getBoundingClientRect());
            return 'three'";
        wait_for_value(browser, "three placeholders", note, "three").await?;
        let compare = "
            const images = [...document.querySelectorAll('.picture > img')];
            if (images.length !== 3 || images.some(image => !image.naturalWidth)) return 'no pictures';
            const moved = images.filter((image, n) => {
                const [now, then] = [image.getBoundingClientRect(), window.placeholders[n]];
                return ['left', 'top', 'right', 'bottom'].some(side => Math.abs(now[side] - then[side]) > 3);
            });
            if (moved.length === 0) return 'there';
            return JSON.stringify([window.placeholders, images.map(image => image.getBoundingClientRect())])";
        wait_for_value(browser, "three pictures", compare, "there").await
    })
    .await;
}

/// Guards against four thumbnails in one row on a large screen, and against pictures scattered over the pane. They
/// must be as large as possible and all in the viewport.
#[tokio::test(flavor = "multi_thread")]
async fn four_results_are_shown_in_two_by_two_grid() {
    drive("four_results_are_shown_in_two_by_two_grid", async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        let page = format!("{}/models/image/strata", service.address());
        browser.set_size(1440, 900).await?;
        browser.open(&page).await?;
        let prompt = starting("textbox", "prompt");
        browser.fill(&prompt, "dunes at dusk").await?;
        browser
            .fill(&by("spinbutton", "num_outputs"), "4")
            .await?;
        browser.press(&by("button", "Generate")).await?;
        let arrangement = "
            const images = [...document.querySelectorAll('.picture > img')];
            if (images.length !== 4 || images.some(image => !image.naturalWidth)) return 'no pictures';
            const [first, second, third, last] = images.map(image => image.getBoundingClientRect());
            if (Math.abs(first.top - second.top) > 1) return 'one below the other';
            if (third.top < first.bottom || Math.abs(third.left - first.left) > 1) return 'in a row';
            const gap = second.left - first.right;
            if (gap > 16) return `${gap} px apart`;
            if (last.bottom > innerHeight) return 'below the viewport';
            const pane = document.querySelector('.result').getBoundingClientRect();
            const share = (last.bottom - first.top) / pane.height;
            return share > 0.5 ? 'two by two' : `${share} of the pane`";
        // Not wide and low windows, in which a single row gives larger pictures.
        for (width, height) in [(1440, 900), (2560, 1300), (1440, 900)] {
            browser.set_size(width, height).await?;
            let what = format!("four pictures in {width} by {height}");
            wait_for_value(browser, &what, arrangement, "two by two").await?;
        }
        // Guards against tiny pictures covered by their own buttons: in a low window, the page scrolls instead.
        let short = "
            const images = [...document.querySelectorAll('.picture > img')];
            const low = images.filter(image => image.getBoundingClientRect().height < 170);
            return low.length ? `${low[0].getBoundingClientRect().height} px` : 'large enough'";
        browser.set_size(1366, 650).await?;
        wait_for_value(browser, "four pictures in a low window", short, "large enough").await?;
        browser.set_size(1440, 900).await?;
        browser.press(&by("link", "Tasks")).await?;
        browser.press(&by("link", "dunes at dusk")).await?;
        let arrangement = arrangement.replace(".result", "main");
        wait_for_value(browser, "four pictures on the task page", &arrangement, "two by two").await
    })
    .await;
}

/// Guards against a 480 px video that is scaled up on a large screen, and against a placeholder that is much taller
/// than the video.
#[tokio::test(flavor = "multi_thread")]
async fn video_is_not_scaled_above_its_pixel_size() {
    drive("video_is_not_scaled_above_its_pixel_size", async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        browser.set_size(2560, 1440).await?;
        generate(browser, &service.address(), "video/silk", "teal threads").await?;
        let fits = "
            const film = document.querySelector('.picture > video');
            if (!film?.videoWidth) return 'no video';
            const { width } = film.getBoundingClientRect();
            if (Math.abs(width - film.videoWidth) > 1) return `${width} px of ${film.videoWidth}`;
            const place = film.closest('.media-place').getBoundingClientRect();
            return place.height <= film.videoHeight + 1 ? 'fits' : `a placeholder of ${place.height} px for ${film.videoHeight}`";
        wait_for_value(browser, "the video", fits, "fits").await?;
        browser.press(&by("link", "Tasks")).await?;
        browser.press(&by("link", "teal threads")).await?;
        wait_for_value(browser, "the video on the task page", fits, "fits").await
    })
    .await;
}

/// Guards against square placeholders for videos: aspect ratios were only stored for images.
#[tokio::test(flavor = "multi_thread")]
async fn aspect_ratio_of_videos_is_stored() {
    drive("aspect_ratio_of_videos_is_stored", async |browser| {
        let service = Service::start_with_site(&["--speed", "0"]).await?;
        generate(browser, &service.address(), "video/silk", "jade threads").await?;
        let shape = "
            const film = document.querySelector('video');
            const known = JSON.parse(localStorage.getItem('atelier.shapes') ?? '{}')['video/silk'];
            return !!film && Math.abs(known - film.videoWidth / film.videoHeight) < 0.01";
        wait_for_value(browser, "the stored aspect ratio", shape, true).await
    })
    .await;
}
