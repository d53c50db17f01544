// The dialog in front of each action: what will happen, a reason, and a confirmation.
import {el, shown} from './dom.js';

const dialog = document.getElementById('dialog');

export function ask({title, name, text, number, check, confirm, isDangerous, act}) {
  const reason = el('textarea', {id: 'reason', required: true, maxlength: 1000, rows: 2});
  const amount = number && el('input', {id: 'number', type: 'number', required: true, min: number.least, max: number.most, value: number.value});
  const box = check && el('input', {id: 'check', type: 'checkbox', required: true});
  const problem = el('p', {role: 'alert', class: 'problem'});
  const sure = el('button', {class: isDangerous ? 'danger' : 'primary'}, confirm);
  const submit = async (event) => {
    event.preventDefault();
    sure.disabled = true;
    problem.textContent = '';
    const label = sure.textContent;
    sure.textContent = 'Working…';
    try {
      await act({reason: reason.value.trim(), number: amount && Number(amount.value)});
      dialog.close();
    } catch (failed) {
      problem.textContent = `This failed: ${failed.message}`;
    } finally {
      sure.disabled = false;
      sure.textContent = label;
    }
  };
  dialog.replaceChildren(el('form', {onsubmit: submit},
    el('h2', {id: 'dialog-title'}, title), el('p', {class: 'name'}, shown(name)), el('p', null, text),
    el('label', {for: 'reason'}, 'Reason'), reason,
    amount ? [el('label', {for: 'number'}, number.label), amount] : null,
    box ? el('p', {class: 'check'}, box, el('label', {for: 'check'}, check)) : null,
    problem,
    el('p', {class: 'actions'}, sure, el('button', {type: 'button', onclick: () => dialog.close()}, 'Cancel'))));
  dialog.showModal();
  reason.focus();
}

export function closeDialog() {
  if (dialog.open) dialog.close();
}
