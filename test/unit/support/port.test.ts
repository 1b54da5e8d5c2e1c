/** Ports for servers of tests, asked for by two processes at once. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import { expect, it, onTestFinished } from 'vitest'

import { firstFreePort } from '../../support/port.ts'

const many = (from: typeof firstFreePort) => Promise.all(Array.from({ length: 300 }, () => from()))

it('A port that a process of tests has got is given to no other while that lives.', async () => {
  const { href } = new URL('../../support/port.ts', import.meta.url)
  const other = spawn(process.execPath, ['--input-type=module', '--eval', `
    const { firstFreePort } = await import(${JSON.stringify(href)})
    console.log(JSON.stringify(await (${many})(firstFreePort)))
    process.stdin.resume()`], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void other.kill())
  const [line] = await once(createInterface(other.stdout), 'line') as [string]
  const [theirs, ours] = [JSON.parse(line) as number[], await many(firstFreePort)]
  expect(new Set([...theirs, ...ours]).size).toBe(600)
})
