/** Bodies that are damaged anywhere: what is taken of them can be read, and the rest is refused. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { multipartOf, partsOfRuns } from '../../../support/ingest-bodies.ts'
import { ingestHouse } from './ingest-house.ts'

const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`
const run = (n: number) => ({ id: id(n), trace_id: id(1), session_name: 'demo', name: 'ä "x"',
  dotted_order: `20261126T143000123456Z${id(1)}${n === 1 ? '' : `.20261126T143000223456Z${id(n)}`}`,
  run_type: 'llm', end_time: 1_795_703_400_500, tags: ['a'], reference_example_id: id(9),
  inputs: { deep: [[{ a: null }]] }, error: 'no',
  extra: { metadata: { thread_id: 't', usage_metadata: { input_tokens: 1 } } },
  outputs: { generations: [[{ message: { kwargs: { usage_metadata: { total_tokens: 1.5 } } } }]] },
  events: [{ name: 'new_token', time: '2026-11-26T14:30:00.5' }] })

const operations = [{ kind: 'post', run: run(1) }, { kind: 'patch', run: run(2) }] as const
const multipart = multipartOf([...partsOfRuns(operations), [`feedback.${id(7)}`, 'application/json',
  Buffer.from(`{"run_id":"${id(1)}","key":"k"}`)], [`attachment.${id(1)}.x`, 'image/png',
  Buffer.from([0, 255])]])
const batch = Buffer.from(JSON.stringify({ post: [run(1)], patch: [run(2)] }))

const damage = fc.record({
  at: fc.nat(),
  removed: fc.nat({ max: 40 }),
  added: fc.oneof(
    fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '\\', '\r\n', '--', 'null', '1e999', '-1',
      '{}', '""', '\0', '"__proto__":1,', '\\u0000', '999999999999999999999'),
    fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  ),
})

it.each(['multipart', 'batch', 'post', 'patch'] as const)('A damaged %s breaks nothing.',
  async (form) => {
    const whole = form === 'multipart' ? multipart.body : form === 'batch'
      ? batch
      : Buffer.from(JSON.stringify(run(1)))
    await expectAlways(
      fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (damages) => {
        let body = whole
        for (const { at, removed, added } of damages) {
          const from = at % (body.length + 1)
          body = Buffer.concat([body.subarray(0, from), Buffer.from(added, 'latin1'),
            body.subarray(from + removed)])
        }
        const house = ingestHouse()
        try {
          await house.send({ form, body, contentType: multipart.contentType,
            ...form === 'patch' && { spanId: id(1) } })
        } catch (error) {
          expect(error).toBeInstanceOf(HeddleError)
          expect(['malformed', 'invalid']).toContain((error as HeddleError).code)
        }
        // Every payload that was taken is parsed here.
        for (const { startUs, traceStartUs, endUs } of (await house.spans()).values()) {
          expect([startUs, traceStartUs, endUs ?? 0].every(Number.isSafeInteger)).toBe(true)
        }
      }),
    )
  })
