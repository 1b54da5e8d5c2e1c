/** Events of a deployment as sentences. A newer server may say more than is known here. */

import { duration } from '../parts/amounts.ts'
import type { DeploymentEvent, Report } from '../api/control/deployment.ts'
import { reportWords } from './report-words.ts'

/** Events kept: the newest ones. */
export const eventsMax = 1_000

const kinds: Readonly<Record<string, string>> = { deployment: 'Deployment', revision: 'Revision',
  report: 'Check', rollout: 'Roll-out', member: 'Member', pointer: 'Active', secret: 'Secret',
  build: 'Build' }

/** Name of a kind of event; an unknown kind is its own name. */
export const kindWords = (kind: string): string => kinds[kind] ?? kind

/** The events with further ones: the newest first, none twice. */
export function withEvents(before: readonly DeploymentEvent[],
  more: readonly DeploymentEvent[]): readonly DeploymentEvent[] {
  const newest = before[0]?.seq ?? 0
  const fresh = new Map(more.filter(({ seq }) => seq > newest).map((event) => [event.seq, event]))
  return fresh.size === 0
    ? before
    : [...[...fresh.values()].toSorted((a, b) => b.seq - a.seq), ...before].slice(0, eventsMax)
}

/** Words for an event of a deployment; an unknown kind gets the text that it carries. */
export function eventWords(event: DeploymentEvent): string {
  const text = (field: string) => wordOf(event[field])
  switch (event.kind) {
    case 'deployment':
      return joined('', text('change'), plain(event, ['change', 'name']))
    case 'revision':
      return joined(text('revision'), `is ${text('state')}`, text('reason') || text('message'))
    case 'report':
      return reportWords(event as Partial<Report>).join(' ')
    case 'rollout':
      return joined(text('revision'), rolloutWord(text('action'), text('result') ||
        text('phase')), text('reason') || text('message'))
    case 'member':
      return joined(text('member').slice(0, 8), text('state'),
        typeof event['ms'] === 'number' ? duration(event['ms']) : '')
    case 'pointer':
      return joined(text('active'), 'is active', text('reason') ||
        (text('previous') && `before it ${text('previous')}`))
    case 'secret':
      return joined(text('name'), text('change'), text('version') && `version ${text('version')}`)
    default:
      return text('text') || plain(event)
  }
}

/** Fields of an event beside its kind, its author, its time and its number. */
export function detailsOf({ seq: _seq, at: _at, by: _by, kind: _kind, ...data }: DeploymentEvent) {
  return data
}

/** Name of a phase or of the end of a roll-out in the list. */
const rolloutWord = (action: string, word: string): string =>
  action === 'check' ? `check ${word}` : word

/** The parts that are there; without any of them, nothing. */
function joined(subject: string, does: string, more: string): string {
  const words = [subject, does.replaceAll('_', ' ')].filter((part) => part !== '').join(' ')
  return [words, more].filter((part) => part !== '').join(': ')
}

/** The fields of an event whose kind has no sentence. */
const plain = (event: DeploymentEvent, except: readonly string[] = []): string =>
  Object.entries(detailsOf(event)).filter(([field]) => !except.includes(field))
    .map(([field, value]) =>
      `${field.replaceAll('_', ' ')} ${wordOf(value) || JSON.stringify(value)}`
    ).join(', ')

const wordOf = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : ''
