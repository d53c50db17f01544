// The dialog in front of each action: what will happen, a reason, and a confirmation.
import {el, shown} from './dom.js';

const dialog = document.getElementById('dialog');
let asked = new AbortController();  // what the dialog was last opened for: ends when it is closed

// The event comes later than the closing, when the dialog may be open again for something else.
dialog.addEventListener('close', () => {
  if (!dialog.open) asked.abort();
});

// act gets a signal, which is aborted when nobody waits for it any more.
export function ask({title, name, text, number, check, confirm, isDangerous, act}) {
  asked.abort();
  const mine = asked = new AbortController();
  const reason = el('textarea', {id: 'reason', required: true, maxlength: 1000, rows: 2});
  const amount = number && el('input', {id: 'number', type: 'number', required: true, min: number.least, max: number.most, value: number.value});
  const box = check && el('input', {id: 'check', type: 'checkbox', required: true});
  const problem = el('p', {role: 'alert', class: 'problem'});
  const sure = el('button', {class: isDangerous ? 'danger' : 'primary'}, confirm);
  const leave = el('button', {type: 'button', onclick: () => dialog.close()}, 'Cancel');
  const note = el('p', {role: 'status', class: 'faint', hidden: true}, 'If you stop waiting, it is not done, unless it has begun.');
  const setWorking = (isWorking) => {
    sure.disabled = isWorking;
    sure.textContent = isWorking ? 'Working…' : confirm;
    leave.textContent = isWorking ? 'Stop waiting' : 'Cancel';
    note.hidden = !isWorking;
  };
  const submit = async (event) => {
    event.preventDefault();
    problem.textContent = '';
    setWorking(true);
    try {
      await act({reason: reason.value.trim(), number: amount && Number(amount.value), signal: mine.signal});
      if (!mine.signal.aborted) dialog.close();
    } catch (failed) {
      problem.textContent = `This failed: ${failed.message}`;
    } finally {
      setWorking(false);
    }
  };
  dialog.replaceChildren(el('form', {onsubmit: submit},
    el('h2', {id: 'dialog-title'}, title), el('p', {class: 'name'}, shown(name)), el('p', null, text),
    el('label', {for: 'reason'}, 'Reason'), reason,
    amount ? [el('label', {for: 'number'}, number.label), amount] : null,
    box ? el('p', {class: 'check'}, box, el('label', {for: 'check'}, check)) : null,
    problem, note,
    el('p', {class: 'actions'}, sure, leave)));
  dialog.showModal();
  reason.focus();
}

export function closeDialog() {
  if (dialog.open) dialog.close();
}
