class Trdr < Formula
  desc "{{description}}"
  homepage "{{homepage}}"
  url "{{repository}}/releases/download/v{{version}}/{{tarball}}"
  sha256 "{{sha256}}"
  license "{{license}}"

  depends_on "node"

  def install
    system "npm", "install", *std_npm_args
    bin.install_symlink libexec.glob("bin/*")
    man1.install Dir["dist/man/*.1"]
    man7.install Dir["dist/man/*.7"]
    bash_completion.install "completions/trdr.bash" => "trdr"
    zsh_completion.install "completions/trdr.zsh" => "_trdr"
    fish_completion.install "completions/trdr.fish"
  end

  test do
    assert_match "mira", shell_output("#{bin}/trdr whois mira --sandbox")
  end
end
