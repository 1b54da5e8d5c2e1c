/**
 * Traces of runs of this server. Only their heads are stored. The rest is read from their threads
 * when it is needed.
 */

import { limitConcurrency, LRUCache } from '../../../../cluster/index.ts'
import type { PriceCache } from '../../ingest/priced.ts'
import { pricedBy } from '../../ingest/pricing/price-list.ts'
import type { PriceModel } from '../../spans/model-usage.ts'
import type { SpanPort } from '../../spans/span-port.ts'
import type { SpanHead, Uuid } from '../../spans/span.ts'
import { termOf } from '../../spans/term.ts'
import type { Calls } from '../../calls/calls.ts'
import type { OwnRunTexts, QueryNeeds } from './own-run-calls.ts'
import { contentOf } from '../payload/content.ts'
import type { Content } from '../payload/content.ts'
import type { Payloads } from '../payload/payloads.ts'
import { ownPayload } from './own-payload.ts'
import { statesOfRun } from './own-state.ts'
import { stepsOf } from './own-steps.ts'
import type { OwnRunStates, OwnStep } from './own-steps.ts'

/** Runs that are read from threads at once. */
const runsAtOnce = 4
/** Runs that are kept for the next spans of a question. */
const runsKept = 8

const unpriced: PriceModel = (_names, usage) => usage

/** Traces of own runs, for one question. */
export interface OwnTraces {
  /** The heads, with those of the tasks of each own run behind it. */
  expanded(heads: readonly SpanHead[], signal?: AbortSignal): Promise<readonly SpanHead[]>
  /** The traces of a store, with the tasks that were read for this question. */
  tracesIn(store: Pick<SpanPort, 'trace'>): Pick<SpanPort, 'trace'>
  /** Payloads for answers. Filters test stored payloads only, because they test many. */
  readonly shown: Payloads
}

/** Threads of own runs, payloads of all other spans, and what models cost. */
export interface OwnTracesParts {
  readonly needs: Calls<QueryNeeds>
  readonly stored: Payloads
  readonly prices: Pick<PriceCache, 'of'>
}

/** Reads own runs from their threads, and all other spans from `stored`. */
export function ownTraces({ needs, stored, prices }: OwnTracesParts): OwnTraces {
  const contents = new Map<Uuid, Content>()
  const below = new Map<Uuid, readonly SpanHead[]>()
  const asked = new LRUCache<Uuid, Promise<OwnRunTexts | null>>({ max: runsKept })
  const limited = limitConcurrency(runsAtOnce)
  const textsOf = ({ tenant, thread, id: run }: SpanHead, signal?: AbortSignal) => {
    if (thread === null) return null
    const known = asked.get(run)
    if (known !== undefined) return known
    const texts = limited(() => needs.ownRun({ tenant, thread, run }, signal && { signal }))
    asked.set(run, texts)
    return texts
  }
  const contentOfOwn = async (head: SpanHead) => {
    const known = contents.get(head.id)
    if (known !== undefined) return known
    const texts = await textsOf(head)
    return contentOf(texts === null ? {} : ownPayload(head, texts))
  }
  const isOurs = (head: SpanHead) => contents.has(head.id) || isOwn(head)
  return {
    async expanded(heads, signal) {
      const all: SpanHead[] = []
      for (const head of heads) {
        const texts = isOwn(head) ? await textsOf(head, signal) : null
        const steps = texts === null ? [] : await pricedSteps(prices, head, {
          states: await statesOfRun(needs, head, texts, signal),
          error: texts.error,
        })
        all.push(head)
        below.set(head.id, steps.map(([step]) => step))
        for (const [step, payload] of steps) {
          contents.set(step.id, contentOf(payload))
          all.push(step)
        }
      }
      return all
    },
    tracesIn: (store) => ({
      async *trace(place) {
        for await (const heads of store.trace(place)) {
          yield heads.flatMap((head) => [head, ...below.get(head.id) ?? []])
        }
      },
    }),
    shown: {
      async *of(heads) {
        for (const [ours, group] of inGroups(heads, isOurs)) {
          if (!ours) {
            yield* stored.of(group)
            continue
          }
          for (let at = 0; at < group.length; at += runsAtOnce) {
            const some = group.slice(at, at + runsAtOnce)
            const found = await Promise.all(some.map(contentOfOwn))
            for (const [index, head] of some.entries()) {
              yield [head, found[index]!] as const
            }
          }
        }
      },
    },
  }
}

/** The steps of a run, with what their models cost. */
async function pricedSteps(prices: OwnTracesParts['prices'], head: SpanHead,
  run: Omit<OwnRunStates, 'price'>): Promise<readonly OwnStep[]> {
  const list = await prices.of(head.tenant).catch(() => undefined)
  // Without prices the trace is shown without costs.
  if (list === undefined) return stepsOf(head, { ...run, price: unpriced })
  return await pricedBy(list, (price) => stepsOf(head, { ...run, price }))
}

/** True for a run of this server, unless a client sent a payload for it. */
function isOwn({ blocks, terms }: SpanHead): boolean {
  return blocks.length === 0 && terms.includes(termOf.own)
}

/** Groups of neighbours with the same result of a test. */
function inGroups(heads: readonly SpanHead[],
  test: (head: SpanHead) => boolean): readonly (readonly [boolean, readonly SpanHead[]])[] {
  const groups: [boolean, SpanHead[]][] = []
  for (const head of heads) {
    const result = test(head)
    const last = groups.at(-1)
    if (last?.[0] === result) last[1].push(head)
    else groups.push([result, [head]])
  }
  return groups
}
