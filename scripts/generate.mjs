// Generates proto/gen from proto/, if anything that it depends on has changed.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

import { fileHash } from './file-hash.mjs'
import { root } from './node24.mjs'

const generated = join(root, 'proto/gen')
const stamp = join(generated, '.stamp')

/** The generators and their sources. The descriptors of the last ones serve gRPC reflection. */
const templates = [
  ['buf.gen.storage.yaml', ['proto/storage', 'proto/search']],
  ['buf.gen.otlp.yaml', ['proto/otlp']],
  ['buf.gen.frontdoor.yaml', ['proto/frontdoor']],
  ['buf.gen.cluster.yaml', ['proto/cluster', 'proto/grpc']],
]

/** A hash of everything that the generated code depends on. */
function fingerprint() {
  const sources = readdirSync(join(root, 'proto'), { recursive: true })
    .filter((name) => name.endsWith('.proto'))
    .map((name) => join('proto', name))
  return fileHash([...sources, 'package-lock.json', 'buf.yaml',
    ...templates.map(([template]) => template)])
}

/**
 * Generates into another folder and then replaces the old code, so that readers see either
 * complete.
 */
function generate(wanted) {
  const fresh = join(root, 'node_modules/.cache/heddle-generate')
  rmSync(fresh, { recursive: true, force: true })
  for (const [template, paths] of templates) {
    buf(['generate', '--template', template, ...pathArgs(paths), '--output', fresh])
  }
  const [, spoken] = templates.at(-1)
  buf(['build', '--as-file-descriptor-set', ...pathArgs(spoken), '--output',
    join(fresh, 'proto/gen/cluster/descriptors.binpb')])
  writeFileSync(join(fresh, 'proto/gen/.stamp'), wanted)
  if (existsSync(generated)) renameSync(generated, join(fresh, 'before'))
  renameSync(join(fresh, 'proto/gen'), generated)
  rmSync(fresh, { recursive: true, force: true })
}

function pathArgs(paths) {
  return paths.flatMap((path) => ['--path', path])
}

function buf(args) {
  const bin = join(root, 'node_modules/.bin')
  // The plug-ins of buf run on the first `node` of the PATH.
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` }
  execFileSync(join(bin, 'buf'), args, { cwd: root, env, stdio: 'inherit' })
}

const wanted = fingerprint()
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) generate(wanted)
