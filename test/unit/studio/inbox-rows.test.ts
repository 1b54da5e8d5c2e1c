/** Rows of the inbox: all threads with open interrupts, also after an answer that failed. */

import { afterAll, expect, it, vi } from 'vitest'

import type { Thread, ThreadStatus } from '../../../src/studio/api/threads.ts'

vi.stubGlobal('document', { baseURI: 'http://localhost:7000/studio/', querySelector: () => null })
vi.stubGlobal('location', new URL('http://localhost:7000/studio/inbox'))
vi.stubGlobal('localStorage', { getItem: () => null })
vi.stubGlobal('sessionStorage', { getItem: () => null })
const { failedAndWaiting, questionsOf } = await import('../../../src/studio/api/threads.ts')
const { joinRows } = await import('../../../src/studio/threads/use-waiting-rows.ts')

const interrupts = { task: [{ id: 'i', value: 'Which?' }] }

const thread = (id: string, status: ThreadStatus, more: Partial<Thread> = {}): Thread => ({
  thread_id: id,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  metadata: {},
  status,
  interrupts: {},
  ...more,
} as Thread)

afterAll(() => vi.unstubAllGlobals())

it('has failed threads with open interrupts, the longest wait first', async () => {
  const asked: unknown[] = []
  vi.stubGlobal('fetch', async (_: unknown, { body }: { readonly body: string }) => {
    asked.push(JSON.parse(body))
    return Response.json([thread('new', 'error', { interrupts }), thread('failed', 'error'),
      thread('old', 'error', { interrupts })], { headers: { 'x-pagination-total': '3' } })
  })
  expect((await failedAndWaiting()).map(({ thread_id }) => thread_id)).toEqual(['old', 'new'])
  expect(asked).toMatchObject([{ status: 'error', sort_by: 'updated_at', sort_order: 'desc' }])
})

it('shows failed threads in front of the other threads that wait', () => {
  const rows = [thread('a', 'interrupted'), thread('b', 'interrupted')]
  const { total, rowAt } = joinRows([thread('f', 'error')], { total: 2,
    rowAt: (index) => rows[index] })
  expect([total, ...[0, 1, 2, 3].map((index) => rowAt(index)?.thread_id)])
    .toEqual([3, 'f', 'a', 'b', undefined])
})

it('shows no interrupts of a thread whose run may answer them', () => {
  expect(questionsOf(thread('a', 'error', { interrupts }))).toHaveLength(1)
  expect(questionsOf(thread('a', 'busy', { interrupts }))).toEqual([])
})
