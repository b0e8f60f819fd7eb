/**
 * SHA-256 of the uWebSockets.js binaries that we ship on. The package's publisher is anonymous, so the bytes are pinned
 * here as well as by the lock file, and a binary that differs is not loaded (`uws-server.ts`).
 * Key: `{platform}_{arch}_{process.versions.modules}`; 115 is Node 20 (glibc ≥ 2.27), 127 Node 22 and 137 Node 24
 * (glibc ≥ 2.38). Made with `sha256sum` over the files of uwebsockets 3.0.6; a new version of
 * the package needs new lines here.
 */
export const UWS_BINARY_SHA256: Readonly<Record<string, string>> = {
  linux_x64_115: 'f4fa5d7b697529b45ac8aa3d57385d9af51bc1d2b26aa9f5b68ca4361542e665',
  linux_x64_127: '78e38a9a163b1cf33ce539619e5908111dea95a12e7943d95fbcdd524879caa8',
  linux_x64_137: '3b549c14e01d9d1faf234cdf4b6f0fb08158605e3692cd0eb1b905e327bd3449',
  linux_arm64_115: '034e0fcccdc08f90df3b130f421516311831b1352fe38eab91abc2984c2fdf3a',
  linux_arm64_127: 'a7d9bc3ec166421a49416d5ea4f49118ae68ea1dbf8a765c4f45a79b0b6adb13',
  linux_arm64_137: 'b6eb007d627e00bcce03ad38f197124e9027c03f6fe784b37f97b8a6ea709cb4',
};
