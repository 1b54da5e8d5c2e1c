/** The command `heddle image`: one more layer, the same bytes each time, read by other tools. */

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync, gzipSync } from 'node:zlib'

import { describe, expect, it } from 'vitest'

import { runImageCommand } from '../../../../src/cli/image/image-command.ts'
import { headerOf, paddingOf, tarEnd } from '../../../../src/revision/index.ts'
import { platformHere } from '../../../../src/revision/closure/platform.ts'
import { runIn } from '../../../support/project-command.ts'
import { freshFolder, readTree, writeTree } from '../../revision/trees.ts'
import { smallProject } from '../control/small-project.ts'

const run = promisify(execFile)
const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest('hex')

const packages: Readonly<Record<string, string>> = {
  'libs/lib/package.json': '{"name": "lib", "version": "1.0.0"}',
}
/** A workspace has a link among its packages, and a program is executable. */
const project = () =>
  smallProject({ ...packages,
    'package.json': JSON.stringify({ name: 'shop', workspaces: ['libs/*'],
      dependencies: { '@langchain/langgraph': '1.0.0', lib: '1.0.0' } }),
    'node_modules/lib': { link: '../libs/lib' }, 'bin/tool.sh': { program: 'true' } })

interface Config {
  readonly config: { readonly Env: readonly string[] }
  readonly rootfs: { readonly diff_ids: readonly string[] }
  readonly history: readonly object[]
}

/** The layout of an image with a file, for this platform. */
async function baseLayout(
  variables: readonly string[] = ['PATH=/bin', 'HEDDLE_CONFIG=/old'],
): Promise<string> {
  const folder = await freshFolder()
  const text = Buffer.from('a server')
  const tar = Buffer.concat([
    headerOf({ kind: 'file', path: 'heddle/main.ts', executable: false, bytes: text.length }),
    text,
    paddingOf(text.length),
    tarEnd,
  ])
  const cpu = platformHere().cpu
  const blobs: string[] = []
  const blob = async (data: Buffer, mediaType: string) => {
    await writeTree(folder, { [`blobs/sha256/${sha256(data)}`]: '' })
    await writeFile(join(folder, 'blobs/sha256', sha256(data)), data)
    blobs.push(sha256(data))
    return { mediaType, digest: `sha256:${sha256(data)}`, size: data.length }
  }
  const type = (name: string) => `application/vnd.oci.image.${name}`
  const layer = await blob(gzipSync(tar), type('layer.v1.tar+gzip'))
  const config = await blob(
    Buffer.from(
      JSON.stringify({ os: platformHere().os, architecture: cpu === 'x64' ? 'amd64' : cpu,
        created: '2026-01-01T00:00:00Z',
        config: { Env: variables, WorkingDir: '/heddle', Entrypoint: ['node', 'src/main.ts'] },
        rootfs: { type: 'layers', diff_ids: [`sha256:${sha256(tar)}`] },
        history: [{ created_by: 'COPY . .' }] }),
    ),
    type('config.v1+json'),
  )
  const manifest = await blob(
    Buffer.from(
      JSON.stringify({ schemaVersion: 2, mediaType: type('manifest.v1+json'), config,
        layers: [layer] }),
    ),
    type('manifest.v1+json'),
  )
  await writeTree(folder, { 'oci-layout': '{"imageLayoutVersion":"1.0.0"}',
    'index.json': JSON.stringify({ schemaVersion: 2, manifests: [manifest] }) })
  return folder
}

async function image(folder: string, base: string) {
  const out = join(await freshFolder(), 'shop.tar')
  const { status, stdout, stderr } = await runIn(folder, runImageCommand, '--base', base, '--out',
    out, '--json')
  expect([status, stderr]).toEqual([0, ''])
  return { out,
    ...JSON.parse(stdout) as { readonly digest: string; readonly layer: string;
      readonly layer_bytes: number } }
}

/** The files of an archive, by the tool that everybody has. */
async function unpacked(archive: string): Promise<string> {
  const folder = await freshFolder()
  await run('tar', ['-xf', archive, '-C', folder])
  return folder
}

const blobIn = (layout: string, digest: string) =>
  readFileSync(join(layout, 'blobs', digest.replace(':', '/')))

describe('the command "image"', () => {
  it('appends one layer with the project, and keeps all of the base', async () => {
    const [folder, base] = [await project(), await baseLayout()]
    const { out, digest, layer } = await image(folder, base)
    const layout = await unpacked(out)
    const manifest = JSON.parse(`${blobIn(layout, digest)}`) as { readonly config: {
      readonly digest: string
    }; readonly layers: readonly { readonly digest: string }[] }
    const config = JSON.parse(`${blobIn(layout, manifest.config.digest)}`) as Config
    expect(config).toMatchObject({ created: '2026-01-01T00:00:00Z', history: { length: 2 },
      config: { Entrypoint: ['node', 'src/main.ts'] } })
    expect(config.config.Env).toEqual(['PATH=/bin', 'HEDDLE_CONFIG=/project/langgraph.json',
      'HEDDLE_DATA_DIR=/heddle/.heddle'])
    expect(manifest.layers.map((each) => each.digest)).toEqual([expect.any(String), layer])
    const plain = manifest.layers.map((each) =>
      `sha256:${sha256(gunzipSync(blobIn(layout, each.digest)))}`
    )
    expect(config.rootfs.diff_ids).toEqual(plain)
    for (const file of Object.keys(await readTree(join(layout, 'blobs/sha256')))) {
      expect(sha256(readFileSync(join(layout, 'blobs/sha256', file)))).toBe(file)
    }
    const files = await freshFolder()
    await run('tar', ['-xzf', join(layout, 'blobs', layer.replace(':', '/')), '-C', files])
    const before = await readTree(folder)
    expect(await readTree(join(files, 'project'))).toEqual(before)
  })

  it('names the file whose disk is full', async () => {
    const [folder, base] = [await project(), await baseLayout()]
    expect(await runIn(folder, runImageCommand, '--base', base, '--out', '/dev/full'))
      .toMatchObject({ status: 1,
        stderr: expect.stringMatching(/^The disk of \/dev\/full is full: free some space/) })
  })

  it('gives the same digest each time, whatever the times of the files', async () => {
    const [folder, base] = [await project(), await baseLayout()]
    const first = await image(folder, base)
    await utimes(join(folder, 'agent.ts'), 1, 1)
    const second = await image(folder, base)
    expect(second).toMatchObject({ digest: first.digest, layer: first.layer })
    expect(readFileSync(second.out).equals(readFileSync(first.out))).toBe(true)
    await writeTree(folder, { 'agent.ts': "import '@langchain/langgraph'\nexport const graph = 2" })
    expect((await image(folder, base)).digest).not.toBe(first.digest)
  })

  it('keeps the data directory that the base has', async () => {
    const { out, digest } = await image(await project(), await baseLayout(['HEDDLE_DATA_DIR=/d']))
    const layout = await unpacked(out)
    const { config } = JSON.parse(`${blobIn(layout, digest)}`) as { config: { digest: string } }
    expect((JSON.parse(`${blobIn(layout, config.digest)}`) as Config).config.Env)
      .toEqual(['HEDDLE_DATA_DIR=/d', 'HEDDLE_CONFIG=/project/langgraph.json'])
  })

  it.runIf(existsSync('/usr/bin/skopeo') && existsSync('/usr/bin/umoci'))(
    'is read by skopeo and unpacked by umoci, where these are installed',
    async () => {
      const folder = await project()
      const { out, digest, layer } = await image(folder, await baseLayout())
      const { stdout } = await run('skopeo', ['inspect', `oci-archive:${out}`])
      expect(JSON.parse(stdout)).toMatchObject({ Digest: digest,
        Layers: [expect.any(String), layer] })
      const work = await freshFolder()
      await run('skopeo', ['copy', '--insecure-policy', `oci-archive:${out}`,
        `docker-archive:${work}/docker.tar:shop:latest`])
      await run('skopeo', ['copy', '--insecure-policy', `oci-archive:${out}`,
        `oci:${work}/layout:latest`])
      await run('umoci', ['unpack', '--rootless', '--image', `${work}/layout:latest`,
        `${work}/bundle`])
      const tree = await readTree(join(work, 'bundle/rootfs'))
      expect(tree['heddle/main.ts']).toBe('a server')
      expect(await readTree(join(work, 'bundle/rootfs/project'))).toEqual(await readTree(folder))
    },
  )

  it('prints a Dockerfile that installs as the lock file says', async () => {
    const folder = await project()
    const { stdout } = await runIn(folder, runImageCommand, '--dockerfile')
    expect(stdout).toMatch(/^# Serves this project with Heddle\. Build it in the folder/)
    expect(stdout).toContain('RUN cd /project && npm ci --omit=dev\n')
    expect(stdout).toContain('ENV HEDDLE_CONFIG=/project/langgraph.json ')
    const other = await smallProject({ 'package-lock.json': '', 'pnpm-lock.yaml': 'lockfile: 9' })
    expect((await runIn(other, runImageCommand, '--dockerfile')).stdout)
      .toMatch(/RUN cd \/project && .*pnpm install --frozen-lockfile --prod\n/)
  })

  it.each([
    [[], /^Say --dockerfile, or both --base and --out/],
    [['--dockerfile', '--out', 'x'], /^--dockerfile prints/],
    [['--base', 'nowhere', '--out', 'x'],
      /nowhere\/index\.json cannot be read \(ENOENT\): .*skopeo copy/],
    [['--base', 'x', '--out', 'y', '--platform', 'sparc'], /^--platform must be like/],
  ])('answers %j with a sentence and exit code 2', async (args, message) => {
    const { status, stderr } = await runIn(await freshFolder(), runImageCommand, ...args)
    expect([status, stderr]).toEqual([2, expect.stringMatching(message)])
  })

  it('refuses a base whose bytes are wrong, or that is for another platform', async () => {
    const [folder, base] = [await project(), await baseLayout()]
    const make = (...more: readonly string[]) =>
      runIn(folder, runImageCommand, '--base', base, '--out', join(base, 'out.tar'), ...more)
    const index = JSON.parse(readFileSync(join(base, 'index.json'), 'utf8')) as {
      manifests: object[]
    }
    const platform = { os: 'windows', architecture: 'amd64' }
    await writeTree(base, {
      'index.json': JSON.stringify({ ...index,
        manifests: index.manifests.map((each) => ({ ...each, platform })) }),
    })
    expect(await make()).toMatchObject({ status: 3, stderr: expect.stringMatching(/has no image/) })
    await writeTree(base, { 'index.json': JSON.stringify(index) })
    for (const file of Object.keys(await readTree(join(base, 'blobs/sha256')))) {
      await writeTree(base, { [`blobs/sha256/${file}`]: '{}' })
    }
    expect(await make()).toMatchObject({ status: 3,
      stderr: expect.stringMatching(/has a blob that is not sha256:/) })
  })
})
