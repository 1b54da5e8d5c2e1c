/** Spans in memory: what a store of traces does, as obvious as can be, for tests. */

import { foldHead } from '../../src/platform/spans/fold.ts'
import type { SpanOperation } from '../../src/platform/spans/fold.ts'
import { isSameFeedback } from '../../src/platform/spans/feedback-port.ts'
import { memoryDocuments } from './memory-documents.ts'
import { termOf } from '../../src/platform/spans/term.ts'
import type { Block, Feedback, FeedbackToken, FilePart, Plan, Removal, ScanMark, SpanHead,
  SpanPlace, SpansOfRequest, SpanStore, SpanWrite, Uuid } from '../../src/platform/index.ts'

/** All operations on one span, and the feedback on it. */
interface Row {
  readonly place: SpanPlace
  readonly operations: SpanOperation[]
  /** Keys of its feedback, also of what was deleted. */
  readonly feedbackKeys: Set<string>
}

const sliceOf = 500
const hourUs = 3600e6

/** An empty store. `nowUs` is its clock. */
export function memorySpans(nowUs: () => number = () => Date.now() * 1000): SpanStore {
  const rows = new Map<string, Row>()
  const blocks = new Map<string, Block>()
  const files = new Map<string, FilePart>()
  const feedback = new Map<string, Feedback>()
  const tokens: FeedbackToken[] = []
  const removeTokens = (isIt: (token: FeedbackToken) => boolean): number => {
    const removed = tokens.filter(isIt)
    for (const token of removed) tokens.splice(tokens.indexOf(token), 1)
    return removed.length
  }
  const removals: { readonly tenant: string; readonly what: Removal }[] = []
  const rollUps = new Map<string, Uint8Array>()
  const touched = new Map<string, number>()

  const isRemoved = (place: SpanPlace) =>
    removals.some(({ tenant, what }) => tenant === place.tenant && concerns(what, place))
  /** Ids of removed spans and traces, with their tenants. */
  const gone = new Set<string>()
  const isOnRemoved = ({ tenant, span, trace, project }: Feedback) =>
    removals.some((removal) =>
      removal.tenant === tenant && removal.what.kind === 'project' &&
      removal.what.project === project
    ) || (span !== null && (gone.has(`${tenant} ${span}`) ||
      (gone.has(`${tenant} ${trace}`) && !known(tenant).some((head) => head.trace === trace))))
  const headOf = ({ operations, place, feedbackKeys }: Row): SpanHead => {
    const marks = feedbackKeys.size === 0
      ? []
      : [...feedback.values()].filter(({ tenant, span }) =>
        tenant === place.tenant && span === place.id
      ).filter(({ project }) =>
        project === null || project === place.project ||
        ![...rows.values()].some((row) =>
          row.place.tenant === place.tenant && row.place.id === place.id &&
          row.place.project === project
        )
      )
        .map(({ id, key, score, value }) => ({ id, key, score, value }))
    const head = foldHead(operations, marks)
    return { ...head, ...guesses.has(keyOf(place)) && { isGuess: true }, terms: [
      ...new Set([...head.terms, ...[...feedbackKeys].map((key) => termOf.feedback(key))]),
    ] }
  }
  const rowAt = (place: SpanPlace): Row => {
    const key = keyOf(place)
    const row = rows.get(key) ?? { place, operations: [], feedbackKeys: new Set() }
    rows.set(key, row)
    return row
  }
  /** Spans whose project no operation has named. */
  const guesses = new Set<string>()
  /** Moved spans whose move was not confirmed. */
  const unconfirmed = new Set<string>()
  const takeOver = (place: SpanPlace): boolean => {
    let isTaken = false
    for (const [key, { place: former, operations }] of [...rows]) {
      const isIt = former.tenant === place.tenant && former.id === place.id && guesses.delete(key)
      if (!isIt) continue
      isTaken = true
      rows.delete(key)
      rowAt(place).operations.push(...operations.map((operation) => ({ ...operation, place })))
      touch(former)
      for (const [name, block] of [...blocks]) {
        if (operations.some((operation) => operation.block === block.id)) {
          blocks.delete(name)
          blocks.set(`${place.tenant} ${place.trace} ${block.id}`, block)
        }
      }
      for (const [name, file] of [...files]) {
        if (!name.startsWith(`${place.tenant} ${former.project} ${place.id} `)) continue
        files.delete(name)
        const moved = { ...file, project: place.project, ownerTrace: place.trace }
        files.set(fileKey(place.tenant, moved), moved)
      }
    }
    return isTaken
  }
  /** Guesses at the places that other requests have named since. */
  const withNamed = (request: SpansOfRequest): SpansOfRequest => {
    const named = ({ tenant, id }: Pick<SpanPlace, 'tenant' | 'id'>) =>
      [...rows.values()].map((row) => row.place).find((place) =>
        place.tenant === tenant && place.id === id && !guesses.has(keyOf(place))
      )
    const at = new Map(request.spans.flatMap((span) => {
      const place = span.isGuess ? named(span.place) : undefined
      return place === undefined ? [] : [[span.place.id, place] as const]
    }))
    return { ...request, spans: request.spans.map((span) => {
      const place = at.get(span.place.id)
      return place ? { ...span, place, isGuess: false } : span
    }), blocks: request.blocks.map((block) => {
      const span = request.spans.find((each) => each.block === block.id && at.has(each.place.id))
      return span ? { ...block, trace: at.get(span.place.id)!.trace } : block
    }), files: request.files.map((file) => {
      const place = at.get(file.owner)
      return place ? { ...file, project: place.project, ownerTrace: place.trace } : file
    }) }
  }
  /** The heads of a tenant, until something changes. */
  const folded = new Map<string, readonly SpanHead[]>()
  const known = (tenant: string) => {
    const heads = folded.get(tenant) ?? [...rows.values()]
      .filter(({ place, operations }) => place.tenant === tenant && operations.length > 0)
      .map(headOf)
    folded.set(tenant, heads)
    return heads
  }
  const touch = ({ tenant, project, startUs }: SpanPlace) => {
    const hour = hourKey(tenant, project, Math.floor(startUs / hourUs))
    touched.set(hour, nowUs())
    folded.clear()
    rollUps.delete(hour)
  }

  return {
    ...memoryDocuments(),
    async write(request) {
      const { tenant, spans, blocks: written, files: attached } = withNamed(request)
      const alive = spans.filter(({ place }) => !isRemoved(place))
      const named = new Set(
        request.spans.filter(({ isGuess }) => isGuess).map(({ place }) => place.id),
      )
      const moved = alive.filter(({ isGuess, place }) => !isGuess && named.has(place.id))
        .map(({ place }) => place)
      for (const span of alive) {
        const isNew = !rows.has(keyOf(span.place))
        if (!span.isGuess && takeOver(span.place)) unconfirmed.add(keyOf(span.place))
        const row = rowAt(span.place)
        row.operations.push(operationOf(span))
        if (span.isGuess && isNew) guesses.add(keyOf(span.place))
        if (unconfirmed.has(keyOf(span.place))) moved.push(span.place)
        for (const each of feedback.values()) {
          if (each.tenant === tenant && each.span === span.place.id) row.feedbackKeys.add(each.key)
        }
        touch(span.place)
      }
      for (const block of written) blocks.set(`${tenant} ${block.trace} ${block.id}`, block)
      const isLate = ({ project, owner, ownerTrace }: FilePart) =>
        isRemoved({ tenant, project, startUs: 0, traceStartUs: 0, id: owner, trace: ownerTrace })
      for (const file of attached.filter((each) => !isLate(each)))
        files.set(fileKey(tenant, file), file)
      const late = spans.filter((span) => !alive.includes(span)).map(({ place }) => place)
      const removed = late.map(({ id }) => id)
      for (const id of removed) gone.add(`${tenant} ${id}`)
      for (const [key, { span, project, tenant: of }] of feedback) {
        const isLate = late.some((place) =>
          place.id === span && (project === null || project === place.project)
        )
        if (of === tenant && isLate && !known(tenant).some(({ id }) => id === span))
          feedback.delete(key)
      }
      return { removed: [...new Set(removed)], moved }
    },
    async confirmMoves(_, places) {
      for (const place of places) unconfirmed.delete(keyOf(place))
    },
    async *scan(plan, after) {
      const wanted = known(plan.tenant).filter((head) => isInRange(plan, head))
        .toSorted((a, b) => compare(plan.order, a, b))
        .filter((head) => after === undefined || compare(plan.order, head, after) > 0)
      for (const heads of slices(wanted)) yield { heads, looked: heads.length }
    },
    async locate(tenant, ids) {
      return known(tenant).filter(({ id }) => ids.includes(id)).map(placeOf)
    },
    async heads(places) {
      return places.flatMap((place) => {
        const row = rows.get(keyOf(place))
        return row === undefined || row.operations.length === 0 ? [] : [headOf(row)]
      })
    },
    async *trace({ tenant, project, trace }) {
      yield* slices(known(tenant).filter((head) => head.project === project && head.trace === trace)
        .toSorted((a, b) => compare('oldest', a, b)))
    },
    async blocks({ tenant, trace }, ids) {
      return new Map(ids.flatMap((id) => {
        const block = blocks.get(`${tenant} ${trace} ${id}`)
        return block === undefined ? [] : [[id, block.data]]
      }))
    },
    async files({ tenant, project, id }, name) {
      return [...files].filter(([key, file]) =>
        key.startsWith(`${tenant} ${project} ${id} `) && (name === undefined || file.name === name)
      ).map(([, file]) => (name === undefined ? { ...file, data: new Uint8Array() } : file))
    },
    async remove(tenant, what) {
      removals.push({ tenant, what })
      const traces = what.kind === 'traces' ? what.traces.map(({ trace }) => trace) : []
      const waiting = what.kind === 'feedback' ? what.spans : traces
      for (const id of waiting) gone.add(`${tenant} ${id}`)
      for (const [key, { place }] of rows) {
        if (place.tenant !== tenant || !concerns(what, place)) continue
        rows.delete(key)
        touch(place)
        const others = [...rows.values()].some((row) =>
          row.place.tenant === tenant && row.place.id === place.id
        )
        for (const [id, row] of feedback) {
          const isOn = row.tenant === tenant && row.span === place.id
          if (isOn && (!others || row.project === place.project)) feedback.delete(id)
        }
        for (const name of files.keys()) {
          if (name.startsWith(`${tenant} ${place.project} ${place.id} `)) files.delete(name)
        }
        gone.add(`${tenant} ${place.id}`)
        const alive = [...rows.values()].filter((row) =>
          row.place.tenant === tenant && row.place.trace === place.trace
        )
        if (alive.some((row) => row.place.project === place.project)) continue
        const needed = new Set(
          alive.flatMap(({ operations }) => operations.map(({ block }) => block)),
        )
        for (const [name, { id }] of blocks) {
          if (name.startsWith(`${tenant} ${place.trace} `) && !needed.has(id)) blocks.delete(name)
        }
      }
      const isToken = ({ span }: FeedbackToken) =>
        gone.has(`${tenant} ${span}`) && !known(tenant).some(({ id }) => id === span)
      removeTokens((token) => token.tenant === tenant && isToken(token))
      const isHeld = (id: Uuid | null) => known(tenant).some((head) => head.id === id)
      for (const [id, row] of feedback) {
        const isOf = [row.span, row.trace].some((id) =>
          id !== null && waiting.includes(id) && (what.kind !== 'traces' || row.project === null ||
            what.traces.some(({ trace, project }) => trace === id && project === row.project))
        )
        if (row.tenant === tenant && isOf && !isHeld(row.span)) feedback.delete(id)
      }
      for (const [id, row] of feedback) {
        const ofProject = what.kind === 'project' && row.project === what.project
        if (row.tenant === tenant && ofProject) feedback.delete(id)
      }
    },

    isRemovedProject: async (tenant, project) =>
      removals.some((removal) =>
        removal.tenant === tenant && removal.what.kind === 'project' &&
        removal.what.project === project
      ),
    changeLife: async () => {},
    async putFeedback(given) {
      const refused: Uuid[] = []
      for (const { row, place } of given) {
        const places = place === null
          ? []
          : [place, ...row.project === null ? [] : [{ ...place, project: row.project }]]
        if (place === null ? isOnRemoved(row) : places.some(isRemoved)) {
          refused.push(row.id)
          continue
        }
        feedback.set(`${row.tenant} ${row.id}`, row)
        const own = [...rows.values()].map((known) => known.place)
          .filter(({ tenant, id }) => tenant === row.tenant && id === row.span)
        for (const each of place === null ? own : [place]) {
          rowAt(each).feedbackKeys.add(row.key)
          touch(each)
        }
      }
      return refused
    },
    async replaceFeedback(before, placed) {
      const now = feedback.get(`${before.tenant} ${before.id}`)
      if (now === undefined || !isSameFeedback(now, before)) return 'changed'
      return (await this.putFeedback([placed])).length === 0 ? 'replaced' : 'removed'
    },
    getFeedback: async (tenant, id) => feedback.get(`${tenant} ${id}`),
    listFeedback: async ({ tenant, spans, project, onProject, keys, limit, offset }) =>
      [...feedback.values()].filter((row) =>
        row.tenant === tenant && (spans === undefined || spans.includes(row.span ?? '')) &&
        (project === undefined || row.project === project) &&
        (onProject !== true || row.span === null) &&
        (keys === undefined || keys.includes(row.key))
      ).toSorted((a, b) => b.createdUs - a.createdUs || textOrder(b.id, a.id))
        .slice(offset, offset + limit),
    async deleteFeedback(tenant, id) {
      const given = feedback.get(`${tenant} ${id}`)
      for (const { place } of rows.values()) {
        if (place.tenant === tenant && place.id === given?.span) touch(place)
      }
      return feedback.delete(`${tenant} ${id}`)
    },
    async putFeedbackToken(token) {
      tokens.push(token)
    },
    getFeedbackToken: async (hash, nowMs) =>
      tokens.find((token) => token.hash === hash && token.expiresMs > nowMs),
    listFeedbackTokens: async (tenant, span) =>
      tokens.filter((token) => token.tenant === tenant && token.span === span),
    deleteFeedbackTokens: async (tenant) => removeTokens((token) => token.tenant === tenant),

    async rollUps(tenant, project, from, to) {
      return new Map(range(from, to).flatMap((hour) => {
        const body = rollUps.get(hourKey(tenant, project, hour))
        return body === undefined ? [] : [[hour, body]]
      }))
    },
    async putRollUp(tenant, project, hour, body, scanBeganUs) {
      const key = hourKey(tenant, project, hour)
      if ((touched.get(key) ?? -Infinity) < scanBeganUs) rollUps.set(key, body)
    },
    async hours(tenant, project, from, to) {
      const hours = known(tenant).filter((head) => head.project === project)
        .map(({ startUs }) => Math.floor(startUs / hourUs))
      return [...new Set(hours)].filter((hour) => hour >= from && hour < to)
        .toSorted((a, b) => a - b)
    },
    close: async () => {},
  }
}

function operationOf({ place, kind, arrivedUs, fields, terms, block }: SpanWrite): SpanOperation {
  return { place, kind, arrivedUs, fields, terms, block }
}

function placeOf({ tenant, project, startUs, id, trace, traceStartUs }: SpanHead): SpanPlace {
  return { tenant, project, startUs, id, trace, traceStartUs }
}

function keyOf({ tenant, project, id }: SpanPlace): string {
  return `${tenant} ${project} ${id}`
}

function fileKey(tenant: string, { project, owner, name }: FilePart): string {
  return `${tenant} ${project} ${owner} ${name}`
}

function hourKey(tenant: string, project: Uuid, hour: number): string {
  return `${tenant} ${project} ${hour}`
}

function concerns(what: Removal, place: SpanPlace): boolean {
  if (what.kind === 'traces') {
    return what.traces.some(({ project, trace }) =>
      project === place.project && trace === place.trace
    )
  }
  if (what.kind === 'feedback') return false
  const before = what.kind === 'older' ? what.beforeUs : Infinity
  return what.project === place.project && place.startUs < before
}

function isInRange({ projects, fromUs, toUs }: Plan, { project, startUs }: SpanHead): boolean {
  return projects.includes(project) && startUs >= fromUs && startUs < toUs
}

function compare(order: Plan['order'], a: ScanMark, b: ScanMark): number {
  const later = a.startUs - b.startUs || textOrder(a.id, b.id)
  return order === 'newest' ? -later : later
}

function textOrder(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

function* slices<Item>(items: readonly Item[]): Iterable<readonly Item[]> {
  for (let at = 0; at < items.length; at += sliceOf) yield items.slice(at, at + sliceOf)
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index)
}
