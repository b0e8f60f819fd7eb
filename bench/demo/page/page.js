/** The demo's page: asks its own server to ring the simulated phone, and tells what that server hears of the call. */
const ring = document.getElementById('ring');
const story = document.getElementById('story');

/** `who`: `agent`, `user`, or `fact` for what is no speech. */
function line(who, mark, text) {
  const row = document.createElement('div');
  const name = document.createElement('b');
  const words = document.createElement('p');
  row.className = `line ${who}`;
  name.textContent = mark;
  words.textContent = text;
  row.append(name, words);
  story.append(row);
  story.scrollTop = story.scrollHeight;
}

ring.addEventListener('click', async () => {
  ring.disabled = true;
  story.replaceChildren();
  try {
    const answer = await fetch('/ring', { method: 'POST' });
    const { callUuid, message } = await answer.json();
    if (!answer.ok) throw new Error(message);
    line('fact', 'placed', 'POST /api/outbound-call answered 200');
    const events = new EventSource(`/rings/${callUuid}`);
    events.onmessage = ({ data }) => {
      const { who, mark, text, last } = JSON.parse(data);
      line(who, mark, text);
      if (!last) return;
      events.close();
      ring.disabled = false;
    };
    events.onerror = () => {
      events.close();
      ring.disabled = false;
    };
  } catch (error) {
    line('fact', 'failed', error.message);
    ring.disabled = false;
  }
});
