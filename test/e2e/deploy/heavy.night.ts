/** A heavy project is uploaded with cuts, and all that it brings works in its deployment. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { oneWorker, startServer } from '../../support/server-process.ts'
import { deployedProject, replying } from './deployed-project.ts'
import { DeployTarget } from './deploy-target.ts'

/** A module of WebAssembly whose `add` adds two numbers. */
const wasm = 'AGFzbQEAAAABBwFgAn9/AX8DAgEABwcBA2FkZAAACgkBBwAgACABagsACgRuYW1lAgMBAAA='

it('Native and wasm packages, assets, computed imports and workspaces work deployed.', async () => {
  const project = await deployedProject({
    'langgraph.json': '{"graphs": {"agent": "./apps/shop/agent.ts:agent"}}',
    'package.json': JSON.stringify({ name: 'deployed', type: 'module',
      workspaces: ['apps/*', 'packages/*'],
      dependencies: { '@langchain/langgraph': '*', '@langchain/core': '*', 'lightningcss': '*',
        '@scope/prices': '*' } }),
    'apps/shop/package.json': JSON.stringify({ name: 'shop', type: 'module' }),
    'apps/shop/greeting.txt': 'Good day',
    'apps/shop/plugins/late.ts': 'export const late: string = "late" satisfies string',
    'packages/prices/package.json': JSON.stringify({ name: '@scope/prices', type: 'module',
      main: './src/index.ts' }),
    'packages/prices/src/index.ts': 'export enum Price { Low = 7 }',
    'node_modules/@scope/prices': { link: '../../packages/prices' },
    'node_modules/adder/package.json': '{"name": "adder", "version": "1.0.0", "type": "module"}',
    'node_modules/adder/index.js': `import { readFileSync } from 'node:fs'
        const bytes = Buffer.from(readFileSync(new URL('./add.wasm.txt', import.meta.url), 'utf8'),
          'base64')
        const { instance } = await WebAssembly.instantiate(bytes)
        export const add = instance.exports.add`,
    'node_modules/adder/add.wasm.txt': wasm,
  }, {})
  const code = replying(`
      const plugin = await import(new URL('./plugins/' + ['la', 'te'].join('') + '.ts',
        import.meta.url).href)
      const css = transform({ filename: 'a.css', code: Buffer.from('a { color: #ff0000 }'),
        minify: true }).code
      return say([readFileSync(new URL('./greeting.txt', import.meta.url), 'utf8'), plugin.late,
        css, add(40, 2), Price.Low].join('|'))`, `
      import { readFileSync } from 'node:fs'
      import { transform } from 'lightningcss'
      import { add } from 'adder'
      import { Price } from '@scope/prices'`)
  await project.write({ 'apps/shop/agent.ts': code })
  const server = await startServer({ args: oneWorker })
  try {
    const shop = new DeployTarget(server.url, 'shop')
    expect(await shop.create()).toMatchObject({ status: 201 })
    const built = await project.built()
    expect(built.manifest.platform).toMatch(/^linux-/)

    // The upload is cut at some chunks, one of them in the middle of its body.
    const { name, missing } = await shop.begin(built)
    expect(missing.length).toBeGreaterThan(10)
    const chunkPath = (sha256: string) => `/revisions/${name}/chunks/${sha256}`
    for (const cut of [1, 5, 9]) {
      const left = (await shop.begin(built)).missing
      for (const sha256 of left.slice(0, cut)) {
        await shop.own('PUT', chunkPath(sha256), built.chunks.get(sha256))
      }
      await cutOff(`${server.url}/control/v1/deployments/shop${chunkPath(left[cut]!)}`,
        built.chunks.get(left[cut]!)!)
      expect((await shop.begin(built)).missing).toHaveLength(left.length - cut)
      expect(await shop.activate(name)).toMatchObject({ status: 409, body: { error: 'not_ready' } })
    }
    await server.kill('SIGKILL')
    await server.restart()
    const rest = await shop.begin(built)
    expect(rest).toMatchObject({ name, missing: { length: missing.length - 15 } })
    expect(await shop.deploy(built)).toBe('r1')
    expect(await shop.answer()).toBe('Good day|late|a{color:red}|42|7')
    expect(readFileSync(join(project.folder, 'apps/shop/greeting.txt'), 'utf8')).toBe('Good day')
  } finally {
    await server.close()
    await project.remove()
  }
})

/** Sends half of a body and cuts the connection. */
async function cutOff(url: string, data: Buffer): Promise<void> {
  const cut = new AbortController()
  const half = new ReadableStream<Uint8Array>({
    pull: (stream) => {
      stream.enqueue(new Uint8Array(data.subarray(0, data.length >> 1)))
      setImmediate(() => cut.abort())
      return new Promise(() => {})
    },
  })
  const init = { method: 'PUT', body: half, duplex: 'half', signal: cut.signal,
    headers: { 'content-type': 'application/octet-stream' } }
  await fetch(url, init as RequestInit).then(() => expect.unreachable(), () => {})
}
