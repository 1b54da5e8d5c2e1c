/** Messages by which a graph shows components: those of a state, and those of a run under way. */

import { isObject } from '../json/is-object.ts'

/** A message that names a component, and the props that it is drawn with. */
export interface UiMessage {
  readonly type: 'ui'
  readonly id: string
  readonly name: string
  readonly props: Readonly<Record<string, unknown>>
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** Messages that are shown of a thread. */
const uiMessagesMax = 200

/**
 * The messages after those of a run, as the reducer of the SDK has them: one that comes again takes
 * the place of the one before, or adds to its props. What has another form is left out.
 */
export function uiMessagesOf(state: unknown,
  events: readonly unknown[] = []): readonly UiMessage[] {
  const known = new Map<string, UiMessage>()
  for (const each of [...Array.isArray(state) ? state : [], ...events]) {
    if (!isObject(each) || typeof each['id'] !== 'string') continue
    if (each['type'] === 'remove-ui') known.delete(each['id'])
    else if (isMessage(each)) known.set(each.id, joined(known.get(each.id), each))
  }
  return [...known.values()].slice(-uiMessagesMax)
}

function isMessage(given: object): given is UiMessage {
  const { type, name, props } = given as Partial<UiMessage>
  return type === 'ui' && typeof name === 'string' && isObject(props)
}

function joined(before: UiMessage | undefined, next: UiMessage): UiMessage {
  return before !== undefined && next.metadata?.['merge'] === true
    ? { ...next, props: { ...before.props, ...next.props } }
    : next
}

/**
 * Messages that are shown below a message of the chat: those that name it. The last one also has
 * those that name none of the chat.
 */
export function shownBelow(all: readonly UiMessage[], ids: ReadonlySet<string>, id: string,
  isLast: boolean): readonly UiMessage[] {
  return all.filter(({ metadata }) => {
    const of = metadata?.['id']
    const isNamed = typeof of === 'string' && ids.has(of)
    return isNamed ? of === id : isLast
  })
}
