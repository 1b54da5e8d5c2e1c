// Writes proto/gen from proto/: run by every npm script that needs it, a no-op while nothing changed.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const stamp = join(root, 'proto/gen/.stamp')

/** One hash over everything that the generated code depends on. */
function fingerprint() {
  const sources = readdirSync(join(root, 'proto'), { recursive: true })
    .filter((name) => name.endsWith('.proto'))
    .map((name) => join('proto', name))
    .concat('package.json', 'buf.yaml', 'buf.gen.storage.yaml', 'buf.gen.frontdoor.yaml')
    .sort()
  const hash = createHash('sha256')
  for (const source of sources) hash.update(source).update(readFileSync(join(root, source)))
  return hash.digest('hex')
}

function generate(template, path) {
  const buf = join(root, 'node_modules/.bin/buf')
  const args = ['generate', '--template', template, '--path', path]
  execFileSync(buf, args, { cwd: root, stdio: 'inherit' })
}

const wanted = fingerprint()
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  rmSync(join(root, 'proto/gen'), { recursive: true, force: true })
  generate('buf.gen.storage.yaml', 'proto/storage')
  generate('buf.gen.frontdoor.yaml', 'proto/frontdoor')
  writeFileSync(stamp, wanted)
}
