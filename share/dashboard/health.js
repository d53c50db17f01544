// The state of the database and of the upkeep, and what the doctor finds.
import {get} from './api.js';
import {badge, duration, el, shown, who} from './dom.js';

const levels = {error: 'bad', warning: 'busy', unknown: 'idle', note: 'idle'};

export class HealthPage {
  title = 'Health';

  constructor() {
    this.content = el('div', null, el('p', null, 'Examining the database…'));
    this.node = el('section', {'aria-labelledby': 'title'}, el('h1', {id: 'title'}, 'Health'), this.content);
  }

  away(reason) {
    this.content.replaceChildren(el('p', null, badge('bad', 'The database or the server cannot be reached.')), el('p', null, shown(reason)));
  }

  async refresh(signal) {
    const data = await get('/api/health', signal);
    const schemaFits = data.schema_version >= data.schema_version_required;
    const {upkeep} = data;
    const count = (level) => data.findings.filter((one) => one.severity === level).length;
    this.content.replaceChildren(
      el('dl', {class: 'facts'},
        el('div', null, el('dt', null, 'Database'), el('dd', null, badge('good', 'reachable'))),
        el('div', null, el('dt', null, 'Schema'), el('dd', null, schemaFits ? badge('good', `version ${data.schema_version}`)
          : badge('bad', `version ${data.schema_version}; ${data.schema_version_required} is needed: run rowlock migrate up`))),
        el('div', null, el('dt', null, 'Upkeep is led by'), el('dd', null, upkeep.leader ? shown(who(upkeep.leader)) : badge('busy', 'nobody'),
          upkeep.leads ? ' (this server)' : upkeep.is_on ? '' : ' (this server does no upkeep)')),
        el('div', null, el('dt', null, 'Election'), el('dd', null, shown(upkeep.election)))),
      el('h2', null, 'What rowlock doctor finds'),
      el('p', null, data.findings.length ? `${count('error')} errors, ${count('warning')} warnings, ${count('unknown')} unknown, ${count('note')} notes` : badge('good', 'Nothing.')),
      el('ul', {class: 'findings'}, data.findings.map((one) => el('li', {class: one.severity},
        el('h3', null, badge(levels[one.severity] ?? 'idle', one.severity), ' ', el('code', null, one.code)),
        el('p', null, shown(one.found)), el('p', null, shown(one.why)),
        el('p', null, el('strong', null, 'Remedy: '), shown(one.remedy))))));
  }
}
