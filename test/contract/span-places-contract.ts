/** What every store of spans promises of one id in two projects, and of what comes too late. */

import { hash } from 'node:crypto'

import { describe, expect, it } from 'vitest'

import { feedbackChanges } from '../../src/platform/ingest/feedback-changes.ts'
import { writeFeedback } from '../../src/platform/ingest/feedback-write.ts'
import { noFields } from '../../src/platform/index.ts'
import type { Feedback, FeedbackToken, FilePart, SpanHead, SpanPlace, SpansOfRequest,
  SpanWrite } from '../../src/platform/index.ts'
import { aPost, noonUs, placeOf, requestOf, uuidOf } from './span-histories.ts'
import { newTenant, useSpans } from './span-port-contract.ts'
import type { OpenSpans } from './span-port-contract.ts'

function aFile({ project, id, trace }: SpanPlace, text: string): FilePart {
  return { project, owner: id, ownerTrace: trace, name: 'f', type: 't', data: Buffer.from(text) }
}

function aFeedback({ tenant, id, trace, project }: SpanPlace, number: number,
  more: Partial<Feedback> = {}): Feedback {
  return { tenant, id: uuidOf(5, number), span: id, trace, project, key: 'good', score: number,
    value: null, createdUs: noonUs, modifiedUs: Date.now() * 1_000, bodyJson: '{}', ...more }
}

/** The places of one span in two projects. */
function twoPlaces(): readonly [SpanPlace, SpanPlace] {
  const first = placeOf(newTenant(), { trace: 1, span: 0, project: 0 })
  return [first, { ...first, project: uuidOf(1, 1) }]
}

export function describeSpanPlaces(name: string, open: () => Promise<OpenSpans>): void {
  describe(`one span in two projects of the ${name} store`, () => {
    const spans = useSpans(open)
    const textOf = async (place: SpanPlace) => {
      const [file] = await spans.reader.files(place, 'f')
      return file && Buffer.from(file.data).toString()
    }
    const scoresOf = async (place: SpanPlace) =>
      (await spans.reader.heads([place])).flatMap(({ feedback }) =>
        feedback.map(({ score }) => score)
      )

    it('has files and feedback of its own in each, which stay when the other is removed',
      async () => {
        const [a, b] = twoPlaces()
        const { tenant } = a
        for (const place of [a, b]) {
          await spans.writer.write({ ...requestOf(tenant, [aPost(place)]),
            files: [aFile(place, place.project)] })
        }
        await writeFeedback(spans.writer, [aFeedback(a, 1), aFeedback(b, 2)])
        expect([await textOf(a), await textOf(b)]).toEqual([a.project, b.project])
        expect([await scoresOf(a), await scoresOf(b)]).toEqual([[1], [2]])
        await spans.writer.remove(tenant, { kind: 'traces', traces: [a] })
        expect([await textOf(a), await textOf(b)]).toEqual([undefined, b.project])
        expect(await scoresOf(b)).toEqual([2])
        expect((await spans.reader.listFeedback({ tenant, limit: 9, offset: 0 }))
          .map(({ score }) => score)).toEqual([2])
      })

    it('has blocks of its own in each, which are deleted with it', async () => {
      const [a, b] = twoPlaces()
      const { tenant } = a
      for (const [at, place] of [a, b].entries()) {
        const id = BigInt(at + 1)
        await spans.writer.write({ ...requestOf(tenant, [aPost(place, { block: id })]),
          blocks: [{ id, trace: a.trace, traceStartUs: a.traceStartUs,
            data: Buffer.alloc(100_000, at) }] })
      }
      const stored = async () => [...(await spans.reader.blocks(a, [1n, 2n])).keys()].toSorted()
      expect(await stored()).toEqual([1n, 2n])
      await spans.writer.remove(tenant, { kind: 'traces', traces: [a] })
      expect(await stored()).toEqual([2n])
      await spans.writer.remove(tenant, { kind: 'traces', traces: [b] })
      expect(await stored()).toEqual([])
    })

    it('keeps the files of the first project when the second one is removed', async () => {
      const [a, b] = twoPlaces()
      for (const place of [a, b]) {
        await spans.writer.write({ ...requestOf(a.tenant, [aPost(place)]),
          files: [aFile(place, place.project)] })
      }
      await spans.writer.remove(a.tenant, { kind: 'traces', traces: [b] })
      expect([await textOf(a), await textOf(b)]).toEqual([a.project, undefined])
    })

    it.each(['alone', 'with a patch'])(
      'has feedback that names another project until that project has the span, written %s',
      async (how) => {
        const [a, b] = twoPlaces()
        const { tenant } = a
        await spans.writer.write(requestOf(tenant, [aPost(a)]))
        await writeFeedback(spans.writer, [aFeedback(b, 1), aFeedback(a, 2)])
        expect((await scoresOf(a)).toSorted()).toEqual([1, 2])
        const patch = aPost(a, { kind: 'patch', fields: { ...noFields, name: 'patched' } })
        await spans.writer.write(
          requestOf(tenant, [aPost(b), ...how === 'alone' ? [] : [patch]]),
        )
        expect([await scoresOf(a), await scoresOf(b)]).toEqual([[2], [1]])
        await spans.writer.remove(tenant, { kind: 'traces', traces: [b] })
        expect(await scoresOf(a)).toEqual([2])
      },
    )

    it('gets feedback that waited while the span of its id was deleted elsewhere', async () => {
      const [a, b] = twoPlaces()
      const { tenant } = a
      const child = { ...b, id: uuidOf(7, 7) }
      const waiting = [b, child].map((place, at) => aFeedback(place, at, { trace: null }))
      expect(await writeFeedback(spans.writer, waiting)).toEqual([])
      await spans.writer.remove(tenant, { kind: 'traces', traces: [a] })
      // A late child, which is rejected.
      await spans.writer.write(requestOf(tenant, [aPost({ ...child, project: a.project })]))
      await spans.writer.write(requestOf(tenant, [aPost(b), aPost(child)]))
      expect([await scoresOf(b), await scoresOf(child)]).toEqual([[0], [1]])
    })

    it('takes files and feedback in another project after it was deleted in one', async () => {
      const [a, b] = twoPlaces()
      const { tenant } = a
      await spans.writer.write({ ...requestOf(tenant, [aPost(a)]), files: [aFile(a, 'a')] })
      await spans.writer.remove(tenant, { kind: 'traces', traces: [a] })
      const { removed } = await spans.writer.write({ ...requestOf(tenant, [aPost(b)]),
        files: [aFile(b, 'b')] })
      expect(await writeFeedback(spans.writer, [aFeedback(b, 2)])).toEqual([])
      expect([removed, await textOf(b), await scoresOf(b)]).toEqual([[], 'b', [2]])
    })
  })

  describe(`tokens of feedback in the ${name} store`, () => {
    const spans = useSpans(open)
    const nowMs = Date.now()
    const aToken = ({ tenant, id: span }: SpanPlace, number: number): FeedbackToken => ({
      id: uuidOf(6, number),
      hash: hash('sha256', `${tenant} ${number}`),
      tenant,
      span,
      key: 'good',
      expiresMs: nowMs + 3_600_000,
      configJson: '{}',
    })
    const isStored = async ({ hash: hashed, tenant, span }: FeedbackToken) => {
      const found = await spans.reader.getFeedbackToken(hashed, nowMs)
      const listed = await spans.reader.listFeedbackTokens(tenant, span)
      expect(listed.length).toBe(found === undefined ? 0 : 1)
      return found !== undefined
    }

    it('are deleted with their spans and runs, or all of a tenant', async () => {
      const places = [1, 2, 3, 4, 5].map((trace) =>
        placeOf(newTenant(), { trace, span: 0, project: trace })
      ).map((place, _, [first]) => ({ ...place, tenant: first!.tenant }))
      const [{ tenant }] = places as [SpanPlace]
      const tokens = places.map((place, at) => aToken(place, at))
      const others = aToken({ ...places[0]!, tenant: newTenant() }, 9)
      for (const token of [...tokens, others]) await spans.writer.putFeedbackToken(token)
      await spans.writer.write(requestOf(tenant, places.slice(0, 2).map((place) => aPost(place))))
      await spans.writer.remove(tenant, { kind: 'traces', traces: [places[0]!] })
      await spans.writer.remove(tenant, { kind: 'project', project: places[1]!.project })
      await spans.writer.remove(tenant, { kind: 'feedback', spans: [places[2]!.id] })
      await expect.poll(() => Promise.all(tokens.map(isStored)))
        .toEqual([false, false, false, true, true])
      expect(await spans.writer.deleteFeedbackTokens(tenant)).toBe(2)
      expect(await Promise.all(tokens.map(isStored))).toEqual(tokens.map(() => false))
      expect(await isStored(others)).toBe(true)
    })

    it('are kept while another project has their span', async () => {
      const [a, b] = twoPlaces()
      const token = aToken(a, 1)
      await spans.writer.write(requestOf(a.tenant, [aPost(a), aPost(b)]))
      await spans.writer.putFeedbackToken(token)
      await spans.writer.remove(a.tenant, { kind: 'traces', traces: [a] })
      expect(await isStored(token)).toBe(true)
      await spans.writer.remove(a.tenant, { kind: 'traces', traces: [b] })
      expect(await isStored(token)).toBe(false)
    })
  })

  describe(`changes of feedback in the ${name} store`, () => {
    const spans = useSpans(open)

    it('keep the fields of all changes that two members make at once', async () => {
      const place = placeOf(newTenant(), { trace: 1, span: 0, project: 0 })
      const { tenant } = place
      await spans.writer.write(requestOf(tenant, [aPost(place)]))
      const { id } = aFeedback(place, 1)
      await writeFeedback(spans.writer, [aFeedback(place, 1)])
      const members = [0, 1].map(() => feedbackChanges(spans.writer))
      const nowUs = Date.now() * 1_000
      await Promise.all(
        [{ score: 7 }, { comment: 'why' }, { correction: 'c' }].map((change, at) =>
          members[at % 2]!.changeFeedback({ tenant, id, change, nowUs })
        ),
      )
      const row = await spans.reader.getFeedback(tenant, id)
      expect(row).toMatchObject({ score: 7 })
      expect(JSON.parse(row!.bodyJson)).toMatchObject({ comment: 'why', correction: 'c' })
      expect((await spans.reader.heads([place]))[0]!.feedback).toMatchObject([{ score: 7 }])
    })
  })

  describe(`a span in a guessed project of the ${name} store`, () => {
    const spans = useSpans(open)
    const heads = async (project: string, { tenant }: SpanPlace) => {
      const found: SpanHead[] = []
      const plan = { tenant, projects: [project], fromUs: 0, toUs: Number.MAX_SAFE_INTEGER,
        order: 'oldest', rootsOnly: false, terms: [], ranges: [], type: null, name: null } as const
      for await (const slice of spans.reader.scan(plan)) found.push(...slice.heads)
      return found
    }
    const textOfFile = async (place: SpanPlace) => {
      const [file] = await spans.reader.files(place, 'f')
      return file && Buffer.from(file.data).toString()
    }
    /** A child whose patch came without a project, as a trace of its own, and its real place. */
    function guessAndPost() {
      const place = placeOf(newTenant(), { trace: 1, span: 1, project: 0 })
      const guess = { ...place, project: uuidOf(1, 1), trace: place.id,
        startUs: noonUs + 7_200_000_000, traceStartUs: noonUs + 7_200_000_000 }
      const patch: SpanWrite = { ...aPost(guess, { arrivedUs: noonUs + 2 }), kind: 'patch',
        isGuess: true, block: 7n, fields: { ...noFields, endUs: noonUs + 5 } }
      const late: SpansOfRequest = { ...requestOf(place.tenant, [patch]),
        files: [aFile(guess, 'file')],
        blocks: [{ id: 7n, trace: guess.trace, traceStartUs: guess.traceStartUs,
          data: Buffer.from('block') }] }
      const post = requestOf(place.tenant, [aPost(place, { arrivedUs: noonUs + 1 })])
      return { place, guess, late, post }
    }

    for (const order of ['before', 'after'] as const) {
      it(`is one span with all that belongs to it if it comes ${order} its post`, async () => {
        const { place, guess, late, post } = guessAndPost()
        const { tenant } = place
        if (order === 'before') {
          await spans.writer.write(late)
          await writeFeedback(spans.writer, [aFeedback(guess, 1, { trace: null, project: null })])
          expect(await spans.reader.heads([guess])).toMatchObject([{ isGuess: true }])
          expect(await spans.writer.write(post)).toMatchObject({ moved: [place] })
        } else {
          await spans.writer.write(post)
          expect(await spans.writer.write(late)).toMatchObject({ moved: [place] })
          await writeFeedback(spans.writer, [aFeedback(place, 1, { trace: null, project: null })])
        }
        expect(await spans.reader.locate(tenant, [place.id])).toEqual([place])
        const [head] = await spans.reader.heads([place])
        expect(head).toMatchObject({ endUs: noonUs + 5, blocks: [7n],
          feedback: [{ key: 'good', score: 1 }] })
        expect(head!.isGuess).toBeUndefined()
        expect(await heads(guess.project, place)).toEqual([])
        expect((await heads(place.project, place)).map(({ id }) => id)).toEqual([place.id])
        expect(Buffer.from((await spans.reader.blocks(place, [7n])).get(7n)!).toString())
          .toBe('block')
        expect(await textOfFile(place)).toBe('file')
        await spans.writer.remove(tenant, { kind: 'traces', traces: [place] })
        expect(await spans.reader.locate(tenant, [place.id])).toEqual([])
        expect((await spans.reader.blocks(guess, [7n])).size).toBe(0)
        expect(await spans.reader.files(guess, 'f')).toEqual([])
      })
    }

    for (const order of ['before', 'after'] as const) {
      it(`is one span at the place of its post if it comes ${order} a post of the same project`,
        async () => {
          const { place: { project, ...at }, guess, late } = guessAndPost()
          const place = { ...at, project: guess.project }
          const { tenant } = place
          const post = requestOf(tenant, [aPost(place, { arrivedUs: noonUs + 1 })])
          if (order === 'after') await spans.writer.write(post)
          await spans.writer.write(late)
          if (order === 'before') {
            await writeFeedback(spans.writer, [aFeedback(guess, 1, { trace: null, project: null })])
            expect(await spans.writer.write(post)).toMatchObject({ moved: [place] })
          } else await writeFeedback(spans.writer, [aFeedback(place, 1)])
          expect(await spans.reader.locate(tenant, [place.id])).toEqual([place])
          const found = await heads(place.project, place)
          expect(found).toMatchObject([{ ...place, endUs: noonUs + 5, blocks: [7n],
            feedback: [{ key: 'good', score: 1 }] }])
          expect(found[0]!.isGuess).toBeUndefined()
          expect((await spans.reader.blocks(place, [7n])).size).toBe(1)
          expect(await textOfFile(place)).toBe('file')
          await spans.writer.remove(tenant, { kind: 'traces', traces: [place] })
          expect(await heads(place.project, place)).toEqual([])
          expect((await spans.reader.blocks(guess, [7n])).size).toBe(0)
          expect(await textOfFile(place)).toBeUndefined()
        })
    }

    it('is at the place of its post if that is the place of the guess', async () => {
      const { guess, late } = guessAndPost()
      await spans.writer.write(requestOf(guess.tenant, [aPost(guess, { arrivedUs: noonUs + 1 })]))
      expect(await spans.writer.write(late)).toMatchObject({ moved: [guess] })
      const found = await heads(guess.project, guess)
      expect(found).toMatchObject([{ ...guess, endUs: noonUs + 5, blocks: [7n] }])
      expect(found[0]!.isGuess).toBeUndefined()
    })

    it('is found by its id after the trace of this id in its project was removed', async () => {
      const { guess, late } = guessAndPost()
      const { tenant, project, id } = guess
      const removed = { ...placeOf(tenant, { trace: 1, span: 1, project: 0 }), project, id }
      await spans.writer.write(requestOf(tenant, [aPost(removed)]))
      await spans.writer.remove(tenant, { kind: 'traces', traces: [removed] })
      // A store may order the removal and the next write by milliseconds.
      const removedMs = Date.now()
      await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(removedMs)
      await spans.writer.write(late)
      expect((await heads(project, guess)).map((head) => head.id)).toEqual([id])
      expect(await spans.reader.locate(tenant, [id])).toEqual([guess])
    })

    it('is in the guessed project for good if an operation names that project', async () => {
      const { guess, late } = guessAndPost()
      await spans.writer.write(late)
      await spans.writer.write(requestOf(guess.tenant, [aPost(guess, { arrivedUs: noonUs + 1 })]))
      expect((await spans.reader.heads([guess])).map(({ isGuess }) => isGuess)).toEqual([undefined])
      const second = { ...guess, project: uuidOf(1, 2) }
      await spans.writer.write(requestOf(guess.tenant, [aPost(second)]))
      expect(await spans.reader.locate(guess.tenant, [guess.id])).toHaveLength(2)
    })
  })

  describe(`projects that were removed from the ${name} store`, () => {
    const spans = useSpans(open)

    it('are known by their ids, also projects that had no span', async () => {
      const tenant = newTenant()
      const places = [0, 1, 2].map((project) => placeOf(tenant, { trace: 1, span: 0, project }))
      await spans.writer.write(requestOf(tenant, [aPost(places[0]!), aPost(places[2]!)]))
      for (const { project } of places.slice(0, 2)) {
        await spans.writer.remove(tenant, { kind: 'project', project })
      }
      const isRemoved = (of: string, project: string) => spans.reader.isRemovedProject(of, project)
      expect(await Promise.all(places.map(({ project }) => isRemoved(tenant, project))))
        .toEqual([true, true, false])
      expect(await isRemoved(newTenant(), places[0]!.project)).toBe(false)
    })
  })

  describe(`feedback on something removed from the ${name} store`, () => {
    const spans = useSpans(open)
    const listed = (tenant: string) => spans.reader.listFeedback({ tenant, limit: 9, offset: 0 })

    it('is refused: on a trace, on its spans, and on a project', async () => {
      const place = placeOf(newTenant(), { trace: 1, span: 0, project: 0 })
      const child = placeOf(place.tenant, { trace: 1, span: 1, project: 0 })
      const { tenant } = place
      await spans.writer.write(requestOf(tenant, [aPost(place), aPost(child)]))
      await spans.writer.remove(tenant, { kind: 'traces', traces: [place] })
      const late = [aFeedback(place, 1, { trace: null, project: null }),
        aFeedback(child, 2, { trace: null, project: null }),
        aFeedback({ ...child, id: uuidOf(7, 7) }, 3, { project: null })]
      expect(await writeFeedback(spans.writer, late)).toEqual(late.map(({ id }) => id))
      await spans.writer.remove(tenant, { kind: 'project', project: place.project })
      const onProject = aFeedback(place, 4, { span: null, trace: null })
      expect(await writeFeedback(spans.writer, [onProject])).toEqual([onProject.id])
      expect(await listed(tenant)).toEqual([])
    })

    it('is accepted on a span that is not known yet, and removed with it before it comes',
      async () => {
        const place = placeOf(newTenant(), { trace: 1, span: 0, project: 0 })
        const { tenant } = place
        const early = aFeedback(place, 1, { trace: null, project: null })
        expect(await writeFeedback(spans.writer, [early])).toEqual([])
        expect(await listed(tenant)).toHaveLength(1)
        await spans.writer.remove(tenant, { kind: 'traces', traces: [place] })
        expect(await listed(tenant)).toEqual([])
        expect(await writeFeedback(spans.writer, [early])).toEqual([early.id])
      })

    it('is refused on a run without a span whose feedback was removed, until the span comes',
      async () => {
        const place = placeOf(newTenant(), { trace: 1, span: 0, project: 0 })
        const { tenant } = place
        const early = aFeedback(place, 1, { trace: null, project: null })
        await writeFeedback(spans.writer, [early])
        await spans.writer.remove(tenant, { kind: 'feedback', spans: [place.id] })
        expect(await listed(tenant)).toEqual([])
        expect(await writeFeedback(spans.writer, [early])).toEqual([early.id])
        expect(await listed(tenant)).toEqual([])
        await spans.writer.write(requestOf(tenant, [aPost(place)]))
        expect(await writeFeedback(spans.writer, [early])).toEqual([])
        expect(await listed(tenant)).toHaveLength(1)
      })

    it(
      'is refused on a child that came after its trace was removed, and removed if it came first',
      async () => {
        const place = placeOf(newTenant(), { trace: 1, span: 0, project: 0 })
        const child = placeOf(place.tenant, { trace: 1, span: 1, project: 0 })
        const { tenant } = place
        await spans.writer.write(requestOf(tenant, [aPost(place)]))
        await spans.writer.remove(tenant, { kind: 'traces', traces: [place] })
        const early = aFeedback(child, 1, { trace: null, project: null })
        expect(await writeFeedback(spans.writer, [early])).toEqual([])
        const { removed } = await spans.writer.write(requestOf(tenant, [aPost(child)]))
        expect(removed).toEqual([child.id])
        expect(await listed(tenant)).toEqual([])
        expect(await writeFeedback(spans.writer, [early])).toEqual([early.id])
        expect(await listed(tenant)).toEqual([])
      },
    )

    it('is refused on a child that was filed under another start of its trace', async () => {
      const place = placeOf(newTenant(), { trace: 1, span: 0, project: 0 })
      const { tenant } = place
      const filed = placeOf(tenant, { trace: 1, span: 1, project: 0 })
      const child = { ...filed, traceStartUs: place.traceStartUs + 3_600_000_000 }
      await spans.writer.write(requestOf(tenant, [aPost(child)]))
      await spans.writer.write(requestOf(tenant, [aPost(place)]))
      await spans.writer.remove(tenant, { kind: 'traces', traces: [place] })
      const late = aFeedback(child, 1, { trace: null, project: null })
      expect(await writeFeedback(spans.writer, [late])).toEqual([late.id])
      expect(await listed(tenant)).toEqual([])
    })

    it.each([[0, 1], [1, 0]])('is kept if one of two projects takes its span: places %i, %i',
      async (...order) => {
        const [a, b] = twoPlaces()
        const { tenant } = a
        const children = [a, b].map((place) => ({ ...place, id: uuidOf(7, 7) }))
        await spans.writer.write(requestOf(tenant, [aPost(a)]))
        await spans.writer.remove(tenant, { kind: 'traces', traces: [a] })
        const early = [null, b.project].map((project, at) =>
          aFeedback(children[1]!, at, { trace: null, project })
        )
        expect(await writeFeedback(spans.writer, early)).toEqual([])
        const { removed } = await spans.writer.write(
          requestOf(tenant, order.map((at) => aPost(children[at]!))),
        )
        expect(removed).toEqual([children[0]!.id])
        expect((await spans.reader.heads([children[1]!]))[0]!.feedback.map(({ score }) => score))
          .toEqual([0, 1])
        expect(await listed(tenant)).toHaveLength(2)
      })

    it('is refused in the project from which its span was removed, and accepted in the other',
      async () => {
        const [a, b] = twoPlaces()
        const { tenant } = a
        await spans.writer.write(requestOf(tenant, [aPost(a), aPost(b)]))
        await spans.writer.remove(tenant, { kind: 'traces', traces: [a] })
        const [onA, onB] = [aFeedback(a, 1), aFeedback(b, 2)]
        expect(await writeFeedback(spans.writer, [onA, onB])).toEqual([onA.id])
        await spans.writer.remove(tenant, { kind: 'project', project: a.project })
        expect(await writeFeedback(spans.writer, [onA, onB])).toEqual([onA.id])
        expect((await listed(tenant)).map(({ id }) => id)).toEqual([onB.id])
      })
  })
}
