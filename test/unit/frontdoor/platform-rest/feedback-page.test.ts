/** Pages of feedback that the store cannot find by itself: of several projects, or by source. */

import { expect, it } from 'vitest'

import { feedbackPage } from '../../../../src/frontdoor/platform-rest/feedback-page.ts'
import type { Feedback, FeedbackQuery } from '../../../../src/platform/index.ts'

/** Of each project, 60 rows; the newest of all are first. */
const rows = Array.from({ length: 180 },
  (_,
    n) => ({ id: `${n}`, project: `p${n % 3}`, createdUs: 1_000 - n,
      bodyJson: `{"feedback_source":{"type":"${n % 2 ? 'api' : 'app'}"}}` } as Feedback))

/** A list, and the most rows that were asked of it at once. */
function listed() {
  const longest = { rows: 0 }
  const listFeedback = ({ project, offset, limit }: FeedbackQuery) => {
    longest.rows = Math.max(longest.rows, limit)
    return Promise.resolve(rows.filter((row) => project === undefined || row.project === project)
      .slice(offset, offset + limit))
  }
  return { longest, listFeedback }
}

const asked = { tenant: 'acme', offset: 10, limit: 50 }

it.each([
  [{ projects: ['p0', 'p1'] }, rows.filter(({ project }) => project !== 'p2')],
  [{ projects: [], sources: ['api'] }, rows.filter((_, n) => n % 2 === 1)],
  [{ projects: ['p2'], sources: ['app'] }, rows.filter((_, n) => n % 2 === 0 && n % 3 === 2)],
])('%o is merged, newest first, from few rows at a time', async (which, all) => {
  const { longest, listFeedback } = listed()
  const page = await feedbackPage({ listFeedback }, { ...asked, ...which })
  expect(page).toEqual(all.slice(10, 60))
  expect(longest.rows).toBeLessThanOrEqual(20)
})

it('A page of several projects that begins too far behind is refused.', async () => {
  const far = { ...asked, projects: ['p0', 'p1'], offset: 1_990 }
  await expect(feedbackPage(listed(), far)).rejects.toMatchObject({ code: 'invalid' })
})
