/** Faults of a project that is to be built, of an archive, or of a manifest. */

/**
 * Why a project is not built:
 * no_engine          it has no copy of LangGraph.js of its own
 * two_engines        it has more than one
 * old_engine         its copy is older than what is served
 * no_lock_file       nothing says which versions it needs
 * not_installed      a package that it needs is not there
 * outside_project    what it needs lies outside of its folder
 * other_platform     a native package is for another platform
 * needs_compiler     a native package has not been built
 * no_compile         a graph cannot be compiled
 * not_offered        langgraph.json asks for what deployments do not have
 * not_from_registry  a package comes from elsewhere than a registry
 * no_install         its packages cannot be installed, or not in time
 *
 * Why an archive is not unpacked:
 * escapes            a path or a link leads out of the tree
 * forbidden_kind     an entry is neither a file nor a link
 * ambiguous_path     two paths are the same to some file systems, or one is below a file
 * not_canonical      the bytes are not those that `archiveOf` makes of this tree
 * cut_off            it ends early
 * wrong_hash         its bytes are not those that the manifest declares
 *
 * Why either is refused:
 * too_large          it is larger than the limits, or than the manifest declares
 * bad_path           a path is too long or has characters that paths must not have
 * bad_manifest       the manifest is not valid
 */
export type RevisionFault = 'no_engine' | 'two_engines' | 'old_engine' | 'no_lock_file'
  | 'not_installed' | 'outside_project' | 'other_platform' | 'needs_compiler' | 'no_compile'
  | 'not_offered' | 'not_from_registry' | 'no_install' | 'escapes' | 'forbidden_kind'
  | 'ambiguous_path' | 'not_canonical' | 'cut_off' | 'wrong_hash' | 'too_large' | 'bad_path'
  | 'bad_manifest'

/** Error whose message says what to do, and may be shown to the person who builds or deploys. */
export class RevisionError extends Error {
  override readonly name = 'RevisionError'
  readonly code: RevisionFault

  constructor(code: RevisionFault, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}
