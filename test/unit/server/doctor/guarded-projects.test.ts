/** An upgrade meets projects that the new program refuses. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { examineGuards } from '../../../../src/server/doctor/guarded-projects.ts'
import { freshFolder } from '../../revision/trees.ts'

it('names the own project, and revisions that are unpacked here', async () => {
  const folder = await freshFolder()
  const config = join(folder, 'langgraph.json')
  const settings = { config, dataDirectory: folder, ignoreAuth: false }
  const own = (text: object) => writeFile(config, JSON.stringify({ graphs: {}, ...text }))
  expect(await examineGuards(settings)).toMatchObject({ verdict: 'ok' })
  await own({ auth: { path: './auth.ts:auth' } })
  expect(await examineGuards(settings)).toMatchObject({ check: 'projects', verdict: 'bad',
    cure: expect.stringContaining('auth is not offered yet') })
  expect(await examineGuards({ ...settings, config: folder })).toMatchObject({ verdict: 'bad' })
  expect(await examineGuards({ ...settings, ignoreAuth: true })).toMatchObject({ verdict: 'ok' })
  await own({})
  const revision = join(folder, 'revisions', '0'.repeat(64), '1'.repeat(64), 'apps/shop')
  await mkdir(revision, { recursive: true })
  await writeFile(join(revision, 'langgraph.json'), '{"auth": {"path": "./auth.ts:auth"}}')
  expect(await examineGuards(settings)).toMatchObject({ verdict: 'warn',
    message: expect.stringMatching(/^1 revisions/),
    cure: expect.stringContaining('auth is not offered yet') })
})
