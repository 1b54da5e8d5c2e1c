/** What every store of spans promises of removal, of feedback on spans, and of roll-ups. */

import { describe, expect, it } from 'vitest'

import { noFields, termOf } from '../../src/platform/index.ts'
import type { Feedback, FeedbackToken, SpanPlace, SpanStore } from '../../src/platform/index.ts'
import { aPost, asSets, noonUs, placeOf, requestOf, scanned, uuidOf,
  wholePlan } from './span-histories.ts'
import { newTenant, useSpans } from './span-port-contract.ts'
import type { OpenSpans } from './span-port-contract.ts'

const noonHour = noonUs / 3600e6
/** Later than every write of a test, so that its roll-ups are kept. */
const laterUs = () => (Date.now() + 60_000) * 1000

/** Everything that a store has of a span is gone. */
async function expectGone(store: SpanStore, place: SpanPlace): Promise<void> {
  const plan = wholePlan(place.tenant)
  const plans = [plan, { ...plan, rootsOnly: true }, { ...plan, terms: [termOf.tag('a')] }]
  for (const one of plans) {
    expect((await scanned(store, one)).filter(({ id }) => id === place.id)).toEqual([])
  }
  expect(await store.locate(place.tenant, [place.id])).toEqual([])
  expect(await store.heads([place])).toEqual([])
  for await (const heads of store.trace(place)) {
    expect(heads.map(({ id }) => id)).not.toContain(place.id)
  }
}

const ofTrace = (tenant: string, trace: number, spans: number) =>
  Array.from({ length: spans }, (_, span) => placeOf(tenant, { trace, span, project: 0 }))

const tagged = (place: SpanPlace) =>
  aPost(place, { terms: [termOf.tag('a')], indexed: 1, block: 9n })

export function describeSpanRemoval(name: string, open: () => Promise<OpenSpans>): void {
  describe(`what is removed from the ${name} store`, () => {
    const spans = useSpans(open)

    it('is at once gone: a trace with its blocks, files and feedback, and stays so', async () => {
      const [tenant, stranger] = [newTenant(), newTenant()]
      const places = ofTrace(tenant, 1, 5)
      const other = placeOf(tenant, { trace: 2, span: 0, project: 0 })
      const theirs = places.map((place) => ({ ...place, tenant: stranger }))
      const file = { project: places[1]!.project, owner: places[1]!.id,
        ownerTrace: places[1]!.trace, name: 'f', type: 't', data: Uint8Array.of(1) }
      await spans.writer.write({ ...requestOf(tenant, [...places, other].map(tagged)),
        files: [file] })
      await spans.writer.write(requestOf(stranger, theirs.map(tagged)))
      await spans.writer.putFeedback([{ row: aFeedback(places[0]!), place: places[0]! }])
      await spans.writer.remove(tenant, { kind: 'traces', traces: [places[0]!] })
      const expectRemoved = async () => {
        for (const place of places) await expectGone(spans.reader, place)
        expect(await spans.reader.files(places[1]!)).toEqual([])
        expect(await spans.reader.listFeedback({ tenant, limit: 9, offset: 0 })).toEqual([])
      }
      await expectRemoved()
      expect((await spans.reader.blocks(places[0]!, [9n])).size).toBe(0)
      // A late patch, a late post of a new span, and late feedback.
      const late = placeOf(tenant, { trace: 1, span: 7, project: 0 })
      await spans.writer.write(
        requestOf(tenant, [aPost(places[2]!, { kind: 'patch', block: 9n }), tagged(late)]),
      )
      await spans.writer.putFeedback([{ row: aFeedback(places[0]!), place: places[0]! }])
      await expectRemoved()
      await expectGone(spans.reader, late)
      expect((await scanned(spans.reader, wholePlan(tenant))).map(({ id }) => id))
        .toEqual([other.id])
      expect((await scanned(spans.reader, wholePlan(stranger))).length).toBe(5)
      expect((await spans.reader.blocks(theirs[0]!, [9n])).size).toBe(1)
    })

    it('is at once gone: a project, and stays so', async () => {
      const tenant = newTenant()
      const [gone, kept] = [0, 1].map((project) => placeOf(tenant, { trace: 1, span: 0, project }))
      await spans.writer.write(requestOf(tenant, [tagged(gone!), tagged(kept!)]))
      await spans.writer.remove(tenant, { kind: 'project', project: gone!.project })
      await expectGone(spans.reader, gone!)
      await spans.writer.write(requestOf(tenant, [aPost(gone!, { kind: 'patch' })]))
      await expectGone(spans.reader, gone!)
      expect((await spans.reader.heads([kept!])).length).toBe(1)
      expect(await spans.reader.hours(tenant, gone!.project, 0, noonHour + 99)).toEqual([])
    })

    it('is at once gone: what began before a time', async () => {
      const tenant = newTenant()
      const places = ofTrace(tenant, 1, 6)
      await spans.writer.write(requestOf(tenant, places.map(tagged)))
      const beforeUs = places[3]!.startUs
      await spans.writer.remove(tenant, { kind: 'older', project: places[0]!.project, beforeUs })
      for (const place of places.slice(0, 3)) await expectGone(spans.reader, place)
      expect((await spans.reader.heads(places)).length).toBe(3)
    })
  })

  describe(`feedback in the ${name} store`, () => {
    const spans = useSpans(open)

    it('is on its span and in its filters, also if it came first', async () => {
      const tenant = newTenant()
      const place = placeOf(tenant, { trace: 1, span: 1, project: 0 })
      const rows = [aFeedback(place, { id: uuidOf(5, 1) }),
        aFeedback(place, { id: uuidOf(5, 2), key: 'tone', score: null, value: '"fine"' })]
      await spans.writer.putFeedback([{ row: rows[0]!, place }])
      await spans.writer.write(requestOf(tenant, [aPost(place)]))
      const [first] = await spans.reader.heads([place])
      expect(first!.feedback.map(({ key }) => key)).toEqual(['good'])
      await spans.writer.putFeedback([{ row: rows[1]!, place }])
      await spans.writer.putFeedback([{ row: { ...rows[0]!, score: 0.25 }, place }])
      const plan = { ...wholePlan(tenant), terms: [termOf.feedback('tone')] }
      const [head] = await scanned(spans.reader, plan)
      expect(asSets(head!)).toMatchObject({
        terms: [termOf.feedback('good'), termOf.feedback('tone')].toSorted(),
        feedback: [{ id: uuidOf(5, 1), key: 'good', score: 0.25, value: null }, { id: uuidOf(5, 2),
          key: 'tone', score: null, value: '"fine"' }],
      })
      expect(await spans.writer.deleteFeedback(tenant, uuidOf(5, 1))).toBe(true)
      expect(await spans.writer.deleteFeedback(tenant, uuidOf(5, 1))).toBe(false)
      const [after] = await spans.reader.heads([place])
      expect(after!.feedback.map(({ key }) => key)).toEqual(['tone'])
    })

    it('marks a span that comes later, or at the same time', async () => {
      const [tenant, stranger] = [newTenant(), newTenant()]
      const places = ofTrace(tenant, 1, 9)
      const rows = places.map((place, index) =>
        aFeedback(place, { id: uuidOf(5, index), project: null, trace: null })
      )
      const [before, together] = [rows.slice(0, 4), rows.slice(4)]
      const waiting = (some: readonly Feedback[]) => some.map((row) => ({ row, place: null }))
      await spans.writer.putFeedback(waiting(before))
      await spans.writer.putFeedback(waiting([{ ...before[0]!, tenant: stranger, score: 0 }]))
      await spans.writer.deleteFeedback(tenant, before[3]!.id)
      await Promise.all([spans.writer.write(requestOf(tenant, places.map(tagged))),
        ...together.map((row) => spans.writer.putFeedback(waiting([row])))])
      const plan = { ...wholePlan(tenant), terms: [termOf.feedback('good')] }
      const marked = places.filter((_, index) => index !== 3)
      const [term] = plan.terms
      // Stores may give more than is asked for.
      const found = (await scanned(spans.reader, plan)).filter(({ terms }) => terms.includes(term!))
      expect(found.map(({ id }) => id).sort())
        .toEqual(marked.map(({ id }) => id).sort())
      const marks = async () =>
        new Map((await spans.reader.heads(places))
          .map(({ id, feedback }) => [id, feedback.map(({ score }) => score)]))
      expect(await marks()).toEqual(
        new Map(places.map(({ id }, index) => [id, index === 3 ? [] : [rows[index]!.score]])),
      )
      expect(await spans.writer.deleteFeedback(tenant, rows[1]!.id)).toBe(true)
      await spans.writer.write(requestOf(tenant, places.map(tagged)))
      expect((await marks()).get(places[1]!.id)).toEqual([])
    })

    it('is listed newest first, by span, project and key, for its tenant alone', async () => {
      const [tenant, stranger] = [newTenant(), newTenant()]
      const places = ofTrace(tenant, 1, 3)
      const rows = places.map((place, index) =>
        aFeedback(place, { id: uuidOf(5, index), createdUs: noonUs + index,
          key: index === 1 ? 'tone' : 'good' })
      )
      const ofProject = aFeedback(places[0]!, { id: uuidOf(5, 9), span: null, trace: null,
        project: uuidOf(1, 1), createdUs: noonUs + 9 })
      await spans.writer.putFeedback([...rows, ofProject].map((row) => ({ row, place: null })))
      await spans.writer.putFeedback([{ row: { ...rows[0]!, tenant: stranger }, place: null }])
      const listed = async (
        more: object,
      ) => (await spans.reader.listFeedback({ tenant, limit: 9, offset: 0, ...more }))
      expect(await listed({})).toEqual([ofProject, ...rows.toReversed()])
      expect(await listed({ limit: 1, offset: 1 })).toEqual([rows[2]])
      expect(await listed({ spans: [rows[0]!.span, rows[1]!.span] })).toEqual([rows[1], rows[0]])
      expect(await listed({ project: uuidOf(1, 1) })).toEqual([ofProject])
      const inProject = { ...rows[0]!, id: uuidOf(5, 20), project: uuidOf(1, 1),
        createdUs: noonUs + 20 }
      await spans.writer.putFeedback([{ row: inProject, place: null }])
      expect(await listed({ project: uuidOf(1, 1) })).toEqual([inProject, ofProject])
      expect(await listed({ project: uuidOf(1, 1), onProject: true })).toEqual([ofProject])
      expect(await listed({ project: uuidOf(1, 1), onProject: true, keys: ['no'] })).toEqual([])
      expect(await listed({ project: uuidOf(1, 2), onProject: true })).toEqual([])
      expect(await listed({ keys: ['tone'] })).toEqual([rows[1]])
      expect(await spans.reader.getFeedback(tenant, rows[1]!.id)).toEqual(rows[1])
      expect(await spans.reader.getFeedback(stranger, rows[1]!.id)).toBeUndefined()
      expect(await spans.writer.deleteFeedback(stranger, rows[1]!.id)).toBe(false)
    })

    it('is given by tokens until they expire', async () => {
      const tenant = newTenant()
      const nowMs = Date.now()
      const token: FeedbackToken = { id: uuidOf(6, 1), hash: `${tenant}-hash`, tenant,
        span: uuidOf(2, 1), key: 'good', expiresMs: nowMs + 60_000, configJson: '{}' }
      await spans.writer.putFeedbackToken(token)
      expect(await spans.reader.getFeedbackToken(token.hash, nowMs)).toEqual(token)
      expect(await spans.reader.getFeedbackToken(token.hash, nowMs + 60_000)).toBeUndefined()
      expect(await spans.reader.getFeedbackToken('other', nowMs)).toBeUndefined()
      expect(await spans.reader.listFeedbackTokens(tenant, token.span)).toEqual([token])
      expect(await spans.reader.listFeedbackTokens(newTenant(), token.span)).toEqual([])
    })
  })

  describe(`roll-ups of the ${name} store`, () => {
    const spans = useSpans(open)

    it('are kept until a write touches their hour', async () => {
      const tenant = newTenant()
      const places = [0, 1, 3].map((trace) => placeOf(tenant, { trace, span: 0, project: 0 }))
      const { project } = places[0]!
      await spans.writer.write(requestOf(tenant, places.map(tagged)))
      const hours = () => spans.reader.hours(tenant, project, noonHour, noonHour + 99)
      expect(await hours()).toEqual([noonHour, noonHour + 1, noonHour + 3])
      expect(await spans.reader.hours(tenant, project, noonHour + 1, noonHour + 3))
        .toEqual([noonHour + 1])
      const kept = async () =>
        new Map([...await spans.reader.rollUps(tenant, project, noonHour, noonHour + 99)]
          .map(([hour, body]) => [hour, String(Buffer.from(body))]))
      const put = (hour: number, scanBeganUs: number) =>
        spans.reader.putRollUp(tenant, project, hour, Buffer.from(`of ${hour}`), scanBeganUs)
      await put(noonHour, laterUs())
      await put(noonHour + 1, laterUs())
      await put(noonHour + 3, (Date.now() - 60_000) * 1000)
      expect(await kept()).toEqual(
        new Map([[noonHour, `of ${noonHour}`], [noonHour + 1, `of ${noonHour + 1}`]]),
      )
      await spans.writer.write(
        requestOf(tenant, [
          aPost(places[0]!, { kind: 'patch', fields: { ...noFields, failed: true } }),
        ]),
      )
      expect([...(await kept()).keys()]).toEqual([noonHour + 1])
      await spans.writer.remove(tenant, { kind: 'traces', traces: [places[1]!] })
      expect([...(await kept()).keys()]).toEqual([])
      expect(await hours()).toEqual([noonHour, noonHour + 3])
    })
  })
}

function aFeedback(place: SpanPlace, more: Partial<Feedback> = {}): Feedback {
  return { tenant: place.tenant, id: uuidOf(5, 0), span: place.id, trace: place.trace,
    project: place.project, key: 'good', score: 1, value: null, createdUs: noonUs,
    modifiedUs: noonUs, bodyJson: '{"comment":"é"}', ...more }
}
