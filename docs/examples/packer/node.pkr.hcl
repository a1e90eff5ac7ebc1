# SPDX-License-Identifier: GPL-2.0-or-later
#
# A disk image of a Debian cloud image, by Packer with QEMU: packer build node.pkr.hcl
# The packages of railhead lie next to this file.
#
# Unverified: parsed by tests/examples.bats, and built by nobody yet.

packer {
  required_plugins {
    qemu = {
      source  = "github.com/hashicorp/qemu"
      version = ">= 1.0"
    }
  }
}

variable "image" {
  type        = string
  description = "URL or path of a Debian 13 cloud image (generic, qcow2)."
}

variable "checksum" {
  type        = string
  description = "Its checksum, as in sha512:..."
}

source "qemu" "node" {
  iso_url      = var.image
  iso_checksum = var.checksum
  disk_image   = true
  disk_size    = "16G"
  memory       = 4096
  headless     = true
  ssh_username = "debian"
  ssh_password = "build"
  cd_label     = "cidata"
  cd_content = {
    "meta-data" = ""
    "user-data" = <<-EOT
      #cloud-config
      password: build
      chpasswd: {expire: false}
      ssh_pwauth: true
    EOT
  }
  shutdown_command = "sudo poweroff"
}

build {
  sources = ["source.qemu.node"]

  provisioner "file" {
    sources     = ["railhead_0.2.0_amd64.deb", "railhead-gate_0.2.0_amd64.deb", "railhead-profiles_0.2.0_all.deb"]
    destination = "/tmp/"
  }

  # bake takes the disk as a tree: without /run, /mnt is none that a systemd has booted from.
  provisioner "shell" {
    inline = [
      "sudo apt-get update",
      "sudo apt-get install -y /tmp/railhead*.deb containerd",
      "sudo rm /tmp/railhead*.deb",
      "sudo update-grub",
      "sudo mount --bind / /mnt",
      "sudo mount --bind /boot/efi /mnt/boot/efi",
      "sudo railhead bake --root /mnt --profile hgx-h100-cx7 --gate containerd --strict",
      "sudo umount /mnt/boot/efi /mnt",
      "sudo cloud-init clean --logs --machine-id",
    ]
  }
}
