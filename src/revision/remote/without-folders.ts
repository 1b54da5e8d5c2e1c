/** What a build says, without the folders of the server that it names. Pure. */

/** An absolute path of two names at least, but not the rest of an address. */
const absolute = /(?<![\w.:/\\@%~-])\/(?:[\w.@+=-]+\/)+([\w.@+=-]*)/g

/** A line for whoever uploaded the files. `work` is the folder of the build. */
export function withoutFolders(text: string, work: string): string {
  const [first = '', ...others] = text.replaceAll('file:///', '/').split(work)
  return [first, ...others.map((each) => each.replace(/^(?:\/project(?:\/_)*)?\/?/, './'))].join('')
    .replaceAll(absolute, '…/$1')
}
