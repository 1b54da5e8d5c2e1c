/** A backup comes back into an empty directory only, and only if it is whole. */

import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { systemEnv } from '../../../cluster/index.ts'
import { openEmbeddedStore } from '../../../src/store/embedded/index.ts'
import { heddle } from '../../support/command.ts'

const root = mkdtempSync(join(tmpdir(), 'heddle-restore-'))
afterAll(() => rmSync(root, { recursive: true }))

const restore = (name: string, to: string, ...args: readonly string[]) =>
  heddle('restore', join(root, name), '--data', join(root, to), ...args)

beforeAll(async () => {
  const data = join(root, 'data')
  await (await openEmbeddedStore({ directory: data, env: systemEnv({ level: 'silent' }) })).close()
  const made = await heddle('backup', join(root, 'b.db'), '--data', data, '--no-traces', '--json')
  expect(made.status).toBe(0)
  expect(JSON.parse(made.stdout)).toMatchObject({ file: join(root, 'b.db'),
    bytes: expect.any(Number) })
})

it('A restore says what it stopped, and what goes on.', async () => {
  const back = await restore('b.db', 'back', '--json')
  expect([back.status, back.stderr, JSON.parse(back.stdout)]).toEqual([0, '', {
    directory: join(root, 'back'),
    bytes: expect.any(Number),
    stopped: { runs: 0, webhooks: 0, crons: 0, rules: 0 },
  }])
  expect(readdirSync(join(root, 'back')).filter((name) => name.startsWith('restoring')))
    .toEqual([])
  expect((await restore('b.db', 'on', '--go-on')).stdout)
    .toContain('goes on with what was unfinished')
})

it('A restore refuses what is damaged, foreign, or would be overwritten.', async () => {
  mkdirSync(join(root, 'full'))
  writeFileSync(join(root, 'full', 'mine.txt'), 'mine')
  const full = await restore('b.db', 'full')
  expect([full.status, full.stderr]).toEqual([3, expect.stringMatching(/not empty \(mine\.txt\)/)])
  expect((await restore('none.db', 'd')).status).toBe(3)
  writeFileSync(join(root, 'text.db'), 'no database, but long enough to be read as one'.repeat(99))
  expect((await restore('text.db', 'd')).stderr).toMatch(/is damaged/)
  copyFileSync(join(root, 'b.db'), join(root, 'cut.db'))
  writeFileSync(join(root, 'cut.db'), Buffer.alloc(8_192, 7), { flag: 'r+' })
  expect((await restore('cut.db', 'd')).status).toBe(1)
  expect(readdirSync(join(root, 'd'))).toEqual([])
  expect((await heddle('restore')).status).toBe(2)
})
